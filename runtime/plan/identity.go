package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
)

// LockPath is the lock file of a disk: in the lock directory, named by 16 hexadecimal
// digits of SHA-256 of the disk's path with its symbolic links resolved.
func LockPath(lockDir, resolved string) string {
	sum := sha256.Sum256([]byte(resolved))
	return filepath.Join(lockDir, hex.EncodeToString(sum[:8])+".lock")
}

// RecipeDigest identifies what a recipe says: program as written, arguments,
// environment, directory, names of the inputs (not their content), size, and the
// format it builds. Time limit and tools are not part of it.
func RecipeDigest(r *Recipe, format string) string {
	text, err := json.Marshal(struct {
		Program string
		Args    []string
		Env     map[string]string
		Dir     string
		Inputs  []string
		Size    uint64
		Format  string
	}{r.Program, r.Args, r.Env, r.Dir, r.Inputs, uint64(r.Size), format})
	if err != nil {
		panic("plan: a recipe cannot be encoded: " + err.Error()) // strings and numbers always can
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
