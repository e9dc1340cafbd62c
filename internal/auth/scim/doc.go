// Package scim keeps people and groups as a directory pushes them with SCIM 2.0 (RFC 7643, RFC 7644): the attributes
// that Iris keeps, PATCH, filters, and the guard against a directory that deactivates too many people.
// internal/auth/scimapi serves the protocol, and internal/auth/pg stores the result. The package does no input or
// output of its own.
package scim
