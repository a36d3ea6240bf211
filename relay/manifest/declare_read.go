package manifest

var declarationFields = []field[PoolDeclarations]{
	{"pools", false, func(r *reader, d *PoolDeclarations) error {
		return readByName(r, &d.Pools, func() (list []string, err error) {
			err = r.array(func(int) error {
				text, err := r.text()
				list = append(list, text)
				return err
			})
			return list, err
		})
	}},
	{"capacities", false, func(r *reader, d *PoolDeclarations) error {
		return readByName(r, &d.Capacities, r.unsigned)
	}},
}

// readByName reads an object whose members are all of a kind.
func readByName[V any](r *reader, m *map[string]V, value func() (V, error)) error {
	return r.object(false, func(name []byte) error {
		key := string(name)
		if _, twice := (*m)[key]; twice {
			return errTwice
		}
		v, err := value()
		set(m, key, v)
		return err
	})
}
