package imports

import (
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Modes says as which of our modes a mode is taken that we do not have, such as im.
type Modes map[string]string

// Check returns an Invalid fault for modes that do not exist here.
func (m Modes) Check() error {
	for from, to := range m {
		if !ours(to) {
			return fault.Invalidf("mode", "%s=%s: there is no mode %q; there are %s", from, to, to, modeNames())
		}
	}
	return nil
}

// Ours returns what a mode of the predecessor is called here; false when there is none.
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

// Usable notes a contact that no vendor of ours can use.
func (r *Row) Usable(mode, destination string) {
	if mode == string(users.Drop) {
		return
	}
	if err := users.CheckContact(users.Mode(mode), destination); err != nil {
		r.Note("its spelling is not one that can be reached by %s here; it was taken as it is", mode)
	}
}
