// Package app is the program of a server: flags, signals, configuration, exit code. Its packages apiserver and processor are the
// composition roots: they build the parts of a server, start them, and stop them in order. The programs in cmd/ call Main;
// end-to-end tests and `iris dev` run the same code.
//
// Both servers start, and stay up, whatever the database does: until it answers with the right schema they serve
// liveness, and readiness says what is missing; then the parts are built and run.
package app
