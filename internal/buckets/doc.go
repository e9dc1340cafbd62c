// Package buckets distributes the 256 buckets of incidents and teams among the live message processors. Assign, a pure
// function, decides which member owns which bucket. Holder keeps this process's leases, with epochs, in the database.
// Gossip reports changes of other members sooner; it sends hints only. PostgreSQL decides who is live and who owns
// what. Without gossip the cluster is slower and still correct. Without the database a process soon offers no bucket.
// Package processor starts it. It does not know what the buckets hold.
package buckets
