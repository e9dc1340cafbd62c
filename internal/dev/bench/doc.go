// Package bench measures Iris from outside. It posts incidents or notifications over HTTP, receives the e-mails with
// its own mail server (the sink) in a separate process, and compares the two. It measures a running server, or starts
// its own: PostgreSQL unless one is configured, one iris-api, and message-processors. It uses the database only of its
// own servers, to prepare and to count. `iris bench` calls it. It runs the servers as
// processes and does not call their code. A unit that is refused or lost is counted; a server that cannot be started is
// an error.
package bench
