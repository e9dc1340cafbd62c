// Package pg stores the work of the processors: due incidents and what their plans did, failed messages and their
// fallbacks, held pages and digests, timers, and the members and leases of the cluster. It also reads people, teams,
// applications and plans in batches for the resolver and the runner. Packages escalation and buckets decide; every
// change that depends on a lease checks the lease in its own transaction (pgbuckets.Fence).
package pg
