// Package server has what the two servers share: version, log, admin listener, the wait for the database, and an HTTP
// server that stops in order. The packages apiserver and processor use it.
package server
