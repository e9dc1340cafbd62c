// Package program is the main function of the servers: flags, signals, configuration, exit code. The programs in cmd/
// call Main; `iris dev` and the end-to-end tests run the same code. The packages apiserver and processor are the
// composition roots: they build the parts of a server, start them, and stop them in order.
//
// A server starts and runs without the database. Until the database answers with the right schema, the server answers
// /livez, and /readyz says what is missing. Then it builds and runs its parts.
package program
