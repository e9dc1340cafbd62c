// Package mount serves operations below /v1 with huma, and calls them over the network. It turns each operation into a
// route of package routing, which has authentication, Idempotency-Key and the answers to errors.
package mount
