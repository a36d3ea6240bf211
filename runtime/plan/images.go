package plan

import (
	"github.com/cosim-go/cosim/topology"
)

// A recipePlace remembers where an image's recipe and path are written.
type recipePlace struct {
	path   topology.Path
	recipe *topology.Recipe
	remote bool
}

// artifacts adds the files that a machine boots from, in the order of their fields.
func (m *maker) artifacts(model *topology.Machine, files resources) {
	v := model.Vhost
	if v.Image != nil {
		m.image(&v.Image.Artifact, v.Image.Format, model.ID+"/image", files)
	}
	if v.Boot == nil {
		return
	}
	m.image(v.Boot.Kernel, "", model.ID+"/kernel", files)
	m.image(v.Boot.Initrd, "", model.ID+"/initrd", files)
	m.image(v.Boot.Firmware, "", model.ID+"/firmware", files)
}

// image adds one use of an artifact and returns its path as processes are given it.
func (m *maker) image(a *topology.Artifact, format, usedBy string, files resources) string {
	if a == nil {
		return ""
	}
	path := files.Resource(a.Path.Name)
	i, known := m.images[path]
	if !known {
		i = len(m.plan.Images)
		m.images[path] = i
		m.plan.Images = append(m.plan.Images, Image{Path: path, Format: format})
		m.recipes = append(m.recipes, recipePlace{path: a.Path, remote: files.remote})
	}
	image := &m.plan.Images[i]
	if last := len(image.UsedBy) - 1; last < 0 || image.UsedBy[last] != usedBy {
		image.UsedBy = append(image.UsedBy, usedBy)
	}
	if image.Format == "" {
		image.Format = format
	}
	if image.Recipe == nil && a.Recipe != nil {
		m.recipes[i].recipe = a.Recipe
		image.Recipe = newRecipe(a.Recipe, files)
	}
	return path
}

func newRecipe(r *topology.Recipe, files resources) *Recipe {
	out := &Recipe{
		Program: r.Program.Name, Args: nonNil(r.Args), Env: map[string]string{}, Dir: files.Resource(r.Dir),
		Inputs: []string{}, Timeout: duration(r.Timeout), Size: r.Size,
	}
	for _, v := range r.Env {
		out.Env[v.Name] = v.Value
	}
	for _, p := range r.Inputs {
		out.Inputs = append(out.Inputs, files.Resource(p.Name))
	}
	return out
}

// imageStates completes the images: digests, states, and what is missing to build them.
func (m *maker) imageStates() {
	for i := range m.plan.Images {
		image, place := &m.plan.Images[i], m.recipes[i]
		if image.Recipe != nil {
			image.Recipe.Digest = RecipeDigest(image.Recipe, image.Format)
		}
		if place.remote {
			image.State, image.Reason = Ready, "on the machine's own host, not looked at"
			continue
		}
		image.State, image.Reason = m.in.Host.ImageState(m.in.Session.Workspace, *image)
		switch {
		case image.State == Unbuildable:
			for _, user := range image.UsedBy {
				m.noteMissing("file", place.path, user, []string{image.Path})
			}
			if m.in.Host.Exists(image.Path) { // and is, say, a directory
				m.unfit[m.missing["file\x00"+place.path.Name]] = image.Reason
			}
		case image.State != Ready && image.Recipe != nil && !(image.State == Stale && image.Direct):
			m.recipeNeeds(image, place)
		}
	}
}

// recipeNeeds looks for what an image that must be built is built with.
func (m *maker) recipeNeeds(image *Image, place recipePlace) {
	r, owner := image.Recipe, image.UsedBy[0]
	if r.Size != 0 {
		if image.Format == "qcow2" {
			r.Tool = m.program(topology.Path{Name: defaultQemuImg, Pos: place.recipe.Pos}, owner)
		}
		return
	}
	r.Program = m.program(place.recipe.Program, owner)
	if place.recipe.Dir != "" && !m.in.Host.Exists(r.Dir) {
		m.noteMissing("directory", topology.Path{Name: place.recipe.Dir, Pos: place.recipe.Pos}, owner, []string{r.Dir})
	}
	for _, input := range place.recipe.Inputs {
		if path := (resources{workspace: m.in.Session.Workspace}).Resource(input.Name); !m.in.Host.Exists(path) {
			m.noteMissing("file", input, owner, []string{path})
		}
	}
}
