// Package contract tests the wire of iris-api that clients rely on: black box, over HTTP, on PostgreSQL. Each test sets up its
// installation with the iris command, or in the database where there is no command. Every answer is also compared with the
// OpenAPI document that the server serves.
package contract
