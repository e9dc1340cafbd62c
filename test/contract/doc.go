// Package contract holds the real iris-api to the contracts of its clients: black box, over HTTP, on PostgreSQL. Every
// installation is set up with the iris command and, where Iris has no command, in the database. Every answer that a test
// gets is also compared with the OpenAPI document that the server itself serves.
package contract
