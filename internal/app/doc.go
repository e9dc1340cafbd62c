// Package app is the composition root: it builds the parts of each server from its configuration, starts them, and stops
// them in order. It is the only package that knows all others. The programs in cmd/ hold nothing but flags and exit
// codes; end-to-end tests and `iris dev` run the same code.
//
// Both servers start, and stay up, whatever the database does: until it answers with the right schema they serve
// liveness, and readiness says what is missing; then the parts are built and run.
package app
