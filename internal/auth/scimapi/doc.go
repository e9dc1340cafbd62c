// Package scimapi serves SCIM 2.0 (RFC 7643, RFC 7644) below /scim/v2, so that a directory can push people and groups.
// A directory authenticates with a token of its connection. The package knows the protocol; internal/auth/scim decides,
// and internal/auth/pg stores.
package scimapi
