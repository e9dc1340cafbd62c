package imports

import (
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Modes maps modes that do not exist here, such as im, to modes that do.
type Modes map[string]string

// Check returns an Invalid fault if a mode of the values does not exist here.
func (m Modes) Check() error {
	for from, to := range m {
		if !ours(to) {
			return fault.Invalidf("mode", "%s=%s: there is no mode %q: use one of %v", from, to, to, users.Modes)
		}
	}
	return nil
}

// Ours returns the mode of this release for a mode of the predecessor; false if there is none.
func (m Modes) Ours(name string) (string, bool) {
	if to, ok := m[name]; ok {
		return to, true
	}
	return name, ours(name)
}

func ours(mode string) bool { return slices.Contains(users.Modes, users.Mode(mode)) }

// Destination returns a column with the address of a contact. A row without an address is left out. An address that no
// vendor can use is imported and reported.
func (l Loader) Destination() Column {
	return Column{Name: "destination", Value: func(row *Row, column string) any {
		destination := Filled(row, column)
		mode := users.Mode(l.Mode(row, "mode_id").(string))
		if row.dropped || mode == users.Drop {
			return destination
		}
		to, err := l.Region.Contact(mode, destination.(string))
		if err != nil {
			row.Note("it is not a valid address for %s here; it was not changed", mode)
			return destination
		}
		return to
	}}
}
