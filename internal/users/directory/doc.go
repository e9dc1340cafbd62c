// Package directory synchronises the people and mailing lists of Iris with a directory: LDAP or Slack. It decides which
// changes are needed, and refuses a directory's answer that would change too much. The operator's commands, the
// periodic jobs and the log-in with a directory's password call it. It queries no directory and stores nothing itself:
// internal/users/directory/ldap and internal/vendors/slack query directories, and internal/users/pg stores the changes.
//
// A synchronisation deletes nobody. It switches off people who are no longer in the directory. Their shifts, plans and
// messages stay.
package directory
