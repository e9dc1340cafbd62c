// Package access stores sessions, the network addresses from which people logged in, and the audit log of changes by hand. The
// web pages, the log-in and the operator's commands use it. It decides about no permissions: auth does.
package access
