// Package scheduling makes the shifts of teams from weekly patterns and rotations, and computes which hours are
// covered. It is pure: the caller passes the calendars and stores the returned changes. Storage, the API, the pages and
// the jobs that populate calendars call it. It does not know SQL or HTTP. A schedule that cannot be populated is an
// Invalid fault that names the field.
package scheduling
