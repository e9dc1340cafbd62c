// Package delivery brings messages to people: it decides when and how each one leaves, never who gets it (escalation)
// nor what it says (messages).
//
// A Worker serves the buckets whose leases this process holds. Work is known by lane: mode, class and application. Each
// mode has a line of its own, so that a hanging vendor holds up nothing but itself:
//
//	 wake-up or tick
//	      |
//	 find lanes -> line of the mode: slot from the limiter -> lane by fairness -> take (fenced, state taken)
//	                                                                               |
//	   record <- vendor call <- read again <- mark sending <- connection <- contact, words
//	(outcome, next          (if the mark's read  (still open?  (or after the
//	 state, never fenced)    is too old: a call   claim still   mark, if all
//	                         begins within 300 ms good? one     are in use)
//	                         of a read)           statement)
//
// Every arrow between stages carries batches that form by themselves: whatever arrived while the stage was busy. A single
// message passes through at once.
//
// The database decides everything that must not go wrong: who may take (the lease), who may call (the claim), how fast
// (the limiter's rows), what happened (attempts). What this package keeps in memory may be lost at any instant.
package delivery
