// Package calendaring has the operations on the shifts of calendars: edits, swaps, swap requests, imports, and previews
// of schedules. It also makes edits of what requests name, for these operations and for the API of Oncall. The rules of
// calendars are in the packages scheduling and editing.
package calendaring
