// Package editing decides what a person's edit of a team's calendar changes: shifts, swaps, overrides, swap requests,
// and imports of external calendars. It also reads external calendars (iCalendar texts) and has the rules of their
// subscriptions. It reads and stores nothing: it gets the present shifts, and returns oncall.Changes or a fault with
// the title and description that clients of Oncall know. oncall/pg calls it inside the transaction that stores the
// changes; planning and the jobs call what reads calendars.
package editing
