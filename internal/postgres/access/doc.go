// Package access stores who may come in: sessions, the network addresses from which people logged in, and the audit log of
// changes by hand. The web pages, the log-in and the operator's commands use it. It knows no permissions: auth decides.
package access
