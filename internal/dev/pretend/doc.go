// Package pretend simulates the vendors: a mail server, Slack, Twilio, Firebase and a webhook receiver, as real servers
// on loopback addresses. `iris dev` shows what they received, tests check promises against it.
//
// They are strict: they check credentials, required fields, sizes and sender identity as the real vendors do, so that a
// request that works here is not refused there. They enforce rates, and misbehave on request (see Behaviour). All
// requests are in one Log, in the order of the decisions.
package pretend
