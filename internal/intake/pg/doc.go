// Package pg stores integrations and heartbeats.
package pg
