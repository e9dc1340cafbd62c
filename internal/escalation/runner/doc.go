// Package runner escalates the due incidents of the buckets that this process holds. It reads due work through small
// interfaces, lets escalation.Decider decide, and writes the decisions in transactions that a process with a stale
// lease cannot commit. The app starts one runner per message processor. It does not know SQL, rates or vendors. A
// decision that fails is retried later for that incident alone; while the database is away, the runner retries every
// second.
package runner
