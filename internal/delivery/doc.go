// Package delivery sends messages to people. It decides when and how each message is sent. Package escalation decides
// who gets it, package messages what it says. The processor runs one Worker.
//
// A Worker serves the buckets whose leases this process holds. It counts work by lane: mode, class and application.
// Each mode has a modeWorker, so that a hanging vendor delays only its own mode. After its take a message has a
// goroutine of its own (path.deliver). It passes these steps once:
//
//	find     finder                 which lanes have work, after a wake-up and every second
//	turn     rate.Dealer            which lane may take a message, and when its call may begin
//	take     modeWorker             claim the message (fenced by the lease)
//	screen   screen                 whether it may be sent in its mode
//	render   stage.Render           its text
//	slot     admission              wait for the slot of the rate limit, and while the destination is busy or fails
//	connect  caller.prepare         before the mark; after it while all connections are in use
//	mark     stage.Mark             store the attempt, if its incident is open and the claim is valid
//	call     caller                 begin within 300 ms of a read of the incident; stage.Reread reads it again if needed
//	record   ending, stage.Record   store the outcome and the next state (never fenced); the decider chooses that state
//
// Steps that use the database work in batches: the messages that arrive while a statement runs go into the next one. A
// single message passes at once.
//
// The database decides who may take (the lease), who may call (the claim), how fast (the rows of the limits), and what
// happened (attempts). The state in memory may be lost at any instant. A step that fails is logged and counted, and its
// message is tried again.
package delivery
