// Package delivery sends messages to people: it decides when and how each one is sent, never who gets it (escalation) nor what
// it says (messages). The processor runs one Worker.
//
// A Worker serves the buckets whose leases this process holds. Work is known by lane: mode, class and application. Each mode has
// a worker of its own, so that a hanging vendor delays only itself. A message passes these steps once:
//
//	find     Worker.find            which lanes have work, after a wake-up and every second
//	slot     rate.Dealer            whose turn it is, and when its call may begin
//	take     modeWorker.take        claim it (fenced by the lease)
//	render   stage.Render           its text
//	admit    Worker.admit, account  wait while its destination is busy or fails
//	connect  Worker.prepare         before the mark; after it while all connections are in use
//	mark     stage.Mark             store the attempt, if its incident is open and the claim is valid
//	reread   stage.Reread           read the incident again, if the mark's read is too old
//	call     Worker.call            begin within 300 ms of a read of the incident
//	record   stage.Record           store the outcome and the next state (never fenced)
//
// Steps that use the database work in batches: what arrives while a statement runs goes into the next one. A single message
// passes at once.
//
// The database decides everything that must not go wrong: who may take (the lease), who may call (the claim), how fast
// (the rows of the limits), what happened (attempts). What this package keeps in memory may be lost at any instant.
package delivery
