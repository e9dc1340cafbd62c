// Package bench measures Iris from outside. It posts incidents or notifications over HTTP, receives the e-mails with
// its own mail server (the sink) in a separate process, and compares the two. It measures a running server, or starts
// its own: PostgreSQL unless one is configured, one iris-api, and message-processors. It uses the database only of its
// own servers, to prepare and to count. `iris bench` calls it.
package bench
