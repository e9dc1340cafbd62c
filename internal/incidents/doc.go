// Package incidents defines what an incident is, its states and the kinds of entries on its timeline. An application
// opens an incident. It escalates along the plan version that was active then, until an event changes its state: see
// Status.After. "Active" means "still escalating", not "the fault persists". Every domain, storage and edge uses the
// package. It does not know storage or transport. Refused transitions are Conflict faults.
package incidents
