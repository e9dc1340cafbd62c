// Package fault defines the kinds of errors of Iris. A kind says what the caller can do about an error. Every package
// returns faults; internal/web/wire translates kinds to status codes. An error without a kind is Internal: it is logged
// in full and shown to callers as "internal error". The package imports nothing of Iris.
package fault
