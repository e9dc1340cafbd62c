// Package pg stores people and teams: names, contacts, settings, devices, team members and rosters, and what comes from
// the directory. The APIs, the log-in, the directory synchronisation and the operator's commands use it.
package pg
