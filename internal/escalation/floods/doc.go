// Package floods limits new messages: which are held for a digest, because of a flood or a quiet-time limit, which get
// another mode because their recipient gets too many, and which are dropped because their application exceeds its quota
// (docs/reference/escalation.md 7-9). Storage loads and locks the counts, calls these functions and stores the result,
// all in one transaction. The package does not read storage or a clock.
package floods
