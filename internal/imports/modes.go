package imports

import (
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Modes maps modes that do not exist here, such as im, to modes that do.
type Modes map[string]string

// Check returns an Invalid fault if a mode of the values does not exist here.
func (m Modes) Check() error {
	for from, to := range m {
		if !ours(to) {
			return fault.Invalidf("mode", "%s=%s: there is no mode %q: use %s", from, to, to, modeNames())
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

func ours(mode string) bool {
	for _, m := range users.Modes {
		if string(m) == mode {
			return true
		}
	}
	return false
}

func modeNames() string {
	names := make([]string, len(users.Modes))
	for i, m := range users.Modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// Usable reports a contact that no vendor here can use.
func (r *Row) Usable(mode, destination string) {
	if mode == string(users.Drop) {
		return
	}
	if err := users.CheckContact(users.Mode(mode), destination); err != nil {
		r.Note("its spelling is not one that can be reached by %s here; it was taken as it is", mode)
	}
}
