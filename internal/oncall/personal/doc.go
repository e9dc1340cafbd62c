// Package personal has the operations on what people see and choose for themselves in on-call calendars: their next
// shifts, reminders and notices, the addresses of calendar feeds, and pinned teams. /v1, the pages of people and
// /api/v0 call it. It knows no storage and no transport.
package personal
