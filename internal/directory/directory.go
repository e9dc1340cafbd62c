// Package directory keeps the people and mailing lists of Iris in step with those of an organisation's directory: LDAP, or
// Slack. It decides what has to change, and when a directory's answer is too odd to be believed. How a directory is asked is
// the business of internal/directory/ldap and internal/vendors/slack, what is stored that of internal/postgres, and when it
// happens that of internal/app. The log-in against LDAP uses the same entries.
//
// The directory never deletes anything: who vanishes from it is switched off, and their shifts, plans and messages stay.
package directory

import (
	"github.com/iris-oncall/iris/internal/users"
)

// The directories that people can come from.
const (
	LDAP  = "ldap"
	Slack = "slack"
)

// Entry is a person as a directory has them, in its own spelling.
type Entry struct {
	// Ref is where the directory has the entry: a distinguished name, or an id of Slack's. Lists name their members by it.
	Ref string
	// Stable is what the directory calls them whatever becomes of their name; "" = it does not say.
	Stable   string
	Name     string // they log in with it
	FullName string
	Email    string
	Phone    string
	// SlackName is what they are called in Slack; "" = the directory does not know.
	SlackName string
	PhotoURL  string
}

// List is a mailing list as a directory has it.
type List struct {
	Name    string
	Members []string // Refs of people, each once; those of lists inside it are among them
	// Size is how many members it has, those that are no people of ours included.
	Size int
}

// Known is a person as Iris has them.
type Known struct {
	users.User
	PhotoURL string
	Contacts map[users.Mode]string
	// Source is the directory that the person was last found in; "" = none yet.
	Source string
	// Stable is what that directory calls them; "" = it never said.
	Stable string
	// SwitchedOff: it was a directory that switched them off, nobody by hand.
	SwitchedOff bool
	// Given are the contacts that the directory gave last.
	Given map[users.Mode]string
}

// KnownList is a mailing list as Iris has it.
type KnownList struct {
	ID      int64
	Name    string
	Active  bool
	Size    int
	Members []string // names of people
	// Kept: a directory had it, so that it goes when the directory has it no more.
	Kept bool
}
