// Package system has what operators see of members, queues, vendors, limits and unreached people, what they may change
// of the running system, and the figures of a period. Storage reads and executes it.
package system
