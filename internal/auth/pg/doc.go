// Package access stores sessions, the network addresses from which people logged in, and the audit log. The web pages, the
// log-in and the operator's commands use it. It decides no permissions: package auth does.
package pg
