package directory

import (
	"github.com/iris-oncall/iris/internal/users"
)

// The kinds of directories.
const (
	LDAP  = "ldap"
	Slack = "slack"
)

// Entry is a person in a directory, in the directory's spelling.
type Entry struct {
	// Ref identifies the entry in the directory: a distinguished name, or an id of Slack. Lists name their members by
	// it.
	Ref string
	// Stable is an id that stays when the person is renamed; "" = the directory has none.
	Stable   string
	Name     string // log-in name
	FullName string
	Email    string
	Phone    string
	// SlackName is the person's name in Slack; "" = unknown.
	SlackName string
	PhotoURL  string
}

// List is a mailing list in a directory.
type List struct {
	Name    string
	Members []string // Refs of the people on the list and on lists inside it, each once
	// Size is the number of members, including those who are not in Iris.
	Size int
}

// Known is a person in Iris.
type Known struct {
	users.User
	PhotoURL string
	Contacts map[users.Mode]string
	// Source is the directory in which the person was last found; "" = none.
	Source string
	// Stable is the person's id in that directory; "" = unknown.
	Stable string
	// SwitchedOff: a synchronisation switched the person off, not an administrator.
	SwitchedOff bool
	// Given are the contacts that the directory had at the last synchronisation.
	Given map[users.Mode]string
}

// KnownList is a mailing list in Iris.
type KnownList struct {
	ID      int64
	Name    string
	Active  bool
	Size    int
	Members []string // names of people
	// Synced: a directory has had the list, so it is switched off when the directory no longer has it.
	Synced bool
}
