package topology

import (
	"fmt"
	"path"
	"slices"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// An artifactUse is the first recipe met for a file.
type artifactUse struct {
	recipe *Recipe
	format string
}

// artifact reads a file that has no format.
func (d *decoder) artifact(v source.Value) (*Artifact, bool) {
	return memo(d, v, "artifact", nil, func(v source.Value) (*Artifact, bool) {
		r, ok := d.Section(v, schema.Artifact)
		defer d.Done(r)
		a := &Artifact{}
		ok = all(ok, field(d, r, "path", &a.Path, d.path), field(d, r, "recipe", &a.Recipe, d.recipe))
		if ok && a.Recipe != nil && a.Recipe.Size != 0 {
			ok = false
			e, _ := r.Entry("recipe")
			d.Report(e.Value, decode.Problem{Code: schema.BadRecipe, Message: "an empty disk is no use here", Hint: "`size` alone is for images and disks"})
		}
		return a, ok && d.noteRecipe(r, a, "")
	})
}

// An imageEntry is an image that some disk may have to give a format to.
type imageEntry struct {
	*Image
	at     source.Value
	format source.Value // absent where the image does not say, or until a disk has
}

func (d *decoder) image(v source.Value) (*imageEntry, bool) {
	r, ok := d.Section(v, schema.Image)
	defer d.Done(r)
	i := &imageEntry{Image: &Image{}, at: v, format: r.Get("format")}
	ok = all(ok,
		field(d, r, "path", &i.Path, d.path),
		field(d, r, "recipe", &i.Recipe, d.recipe),
		field(d, r, "format", &i.Format, d.format),
	)
	return i, ok && d.noteRecipe(r, &i.Artifact, i.Format)
}

func (d *decoder) format(v source.Value) (string, bool) { return d.Enum(v, schema.Formats) }

func (d *decoder) recipe(v source.Value) (*Recipe, bool) {
	return memo(d, v, "recipe", nil, func(v source.Value) (*Recipe, bool) {
		r, ok := d.Section(v, schema.Recipe)
		defer d.Done(r)
		recipe := &Recipe{Timeout: DefaultRecipeTimeout, Pos: v.Pos()}
		return recipe, all(ok, d.recipeForm(r),
			field(d, r, "program", &recipe.Program, d.program),
			field(d, r, "args", &recipe.Args, d.texts),
			field(d, r, "env", &recipe.Env, d.env),
			field(d, r, "dir", &recipe.Dir, d.ResourcePath),
			field(d, r, "inputs", &recipe.Inputs, d.inputs),
			field(d, r, "timeout", &recipe.Timeout, d.duration),
			field(d, r, "size", &recipe.Size, d.Size),
		)
	})
}

// recipeForm checks that a recipe is either a program or a size alone.
func (d *decoder) recipeForm(r *decode.Record) bool {
	if r.Has("program") && !r.Has("size") || !r.At.IsMapping() {
		return true
	}
	if !r.Has("size") {
		if slices.Contains(r.Meant, "program") || slices.Contains(r.Meant, "size") {
			return false
		}
		d.Lacks(r.At, decode.Problem{Code: schema.BadRecipe, Message: "recipe has neither program nor size", Hint: "write program for a file that is built, or size for an empty disk"})
		return false
	}
	ok := true
	for _, name := range r.Names() {
		if name == "size" {
			continue
		}
		ok = false
		e, _ := r.Entry(name)
		d.Report(e.Key(), decode.Problem{Code: schema.BadRecipe, Message: fmt.Sprintf("recipe has %q beside size, which stands alone", name)})
	}
	return ok
}

func (d *decoder) inputs(v source.Value) ([]Path, bool) {
	paths, good := make([]Path, 0, v.Len()), true
	ok := d.Items(v, "paths", func(_ int, item source.Value) {
		p, ok := d.path(item)
		paths, good = append(paths, p), good && ok
	})
	return paths, ok && good
}

// noteRecipe keeps the recipe of a file, and reports a second one that differs.
func (d *decoder) noteRecipe(r *decode.Record, a *Artifact, format string) bool {
	if a.Recipe == nil || a.Path.Name == "" || d.Partial {
		return true
	}
	key := path.Clean(a.Path.Name)
	first, known := d.artifacts[key]
	if !known {
		d.artifacts[key] = artifactUse{a.Recipe, format}
		return true
	}
	sameFormat := a.Recipe.Size == 0 || format == "" || first.format == "" || format == first.format
	if sameFormat && sameRecipe(first.recipe, a.Recipe) {
		return true
	}
	e, _ := r.Entry("recipe")
	d.Report(e.Value, decode.Problem{
		Code:    schema.RecipeConflict,
		Message: fmt.Sprintf("file %q has another recipe elsewhere", a.Path.Name),
		Related: []diag.Related{{Pos: first.recipe.Pos, Message: "the other recipe is here"}},
	})
	return false
}

func sameRecipe(a, b *Recipe) bool {
	return a == b || a.Program.Name == b.Program.Name && a.Dir == b.Dir && a.Timeout == b.Timeout && a.Size == b.Size &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env) &&
		slices.EqualFunc(a.Inputs, b.Inputs, func(a, b Path) bool { return a.Name == b.Name })
}
