// Package contract tests the wire of iris-api that clients rely on: as a black box, over HTTP, on PostgreSQL. Each test
// sets up its installation with the iris command, or in the database if there is no command. Every answer is also
// compared with the OpenAPI document of the server.
package contract
