// Package hours tests whether an instant is in some hours of the week. Routing rules and steps of plans use it. The
// functions are pure.
package hours
