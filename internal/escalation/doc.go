// Package escalation decides what happens to an incident next. Next is a pure function of the plan, the progress so far
// and the instant. Decider finds the people of the targets and chooses their modes; it reads, but writes nothing. The
// packages runner and simulation call both; storage applies the results. Package delivery decides how a page is sent
// (destination, rate, vendor).
package escalation
