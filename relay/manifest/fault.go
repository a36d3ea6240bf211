package manifest

// A Fault is why the manifest of a cartridge is refused.
type Fault struct {
	Kind    AttachmentKind // ManifestInvalid or Incompatible
	Message string
}

// Error says what is wrong with the manifest.
func (f *Fault) Error() string { return f.Message }
