// Package rate decides when the next vendor call may begin, and which lane may make it: it keeps the rates of the whole
// cluster, shares them fairly among applications and classes, and measures how early a slot must be reserved.
//
// Package delivery calls it: one Dealer for each mode, and one Shared per process. This package knows lanes (mode,
// class, application), never messages. Its memory may be lost at any instant, because the rows of the limits in the
// database decide (Limits). A reservation that fails is reported to the Observer and tried again.
package rate
