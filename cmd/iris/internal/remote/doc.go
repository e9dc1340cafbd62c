// Package remote is how the commands of iris reach a server: their environment, the log-in and its credentials, tokens,
// and errors in the command line. If no server is named and a database is configured, requests are answered in this
// process. The command groups use it.
package remote
