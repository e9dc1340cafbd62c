// Package processor builds message-processor from its configuration, starts it and stops it. It is one of the two
// composition roots.
package processor
