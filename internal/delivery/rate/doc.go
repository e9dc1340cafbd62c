// Package rate decides when the next vendor call may begin, and which lane may make it: it keeps the rates of the whole cluster,
// shares them fairly among applications and classes, and measures how early a slot must be reserved.
//
// Package delivery calls it: one Dealer for each mode, which share one Shared per process. This package knows lanes (mode, class,
// application), never messages. Its memory may be lost at any instant: the rows of the limits in the
// database decide (Limits).
package rate
