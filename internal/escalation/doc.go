// Package escalation decides what happens to an incident next, and makes it happen. Next is a pure function of the plan,
// the progress so far and the instant: the engine, the simulator and the tests all call it. Runner applies its decisions to
// the incidents of the buckets this process owns, in transactions that a stale owner cannot commit. WHO is decided here; HOW
// (contact, rate, vendor) is decided in delivery.
package escalation
