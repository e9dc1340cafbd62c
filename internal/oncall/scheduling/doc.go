// Package scheduling makes the shifts of teams from weekly patterns and rotations, and says which hours are covered. All of
// it is pure: a caller passes what is on the calendars, and gets the changes to store. Storage, the API, the pages and the
// jobs that populate calendars call it. It does not know SQL or HTTP. A schedule that cannot be populated is an Invalid
// fault that names the field.
package scheduling
