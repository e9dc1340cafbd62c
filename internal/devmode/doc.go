// Package devmode runs a whole Iris on one machine for `iris dev`: an embedded PostgreSQL, iris-api and message-processors as
// child processes of the same program, demo data, and a mailbox of pretend vendors in which appears what would otherwise
// leave the machine. Nothing of it runs in production.
package devmode
