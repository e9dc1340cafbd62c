// Package editing decides what a person's edit of a team's calendar changes: shifts, swaps, overrides, swap requests,
// and imports of external calendars. It also reads external calendars (iCalendar texts) and has the rules of their
// subscriptions. It is pure: it gets the present shifts, and returns oncall.Changes or a fault with the wire's title
// and description. Storage calls it inside the transaction that stores the changes.
package editing
