// Package reminders stores the messages about shifts: reminders before a shift, notices about changes of a calendar, swap requests
// that expired, and warnings of schedules. What is due is read, worded by package notices and stored as notifications in one
// transaction under the lease of the team's bucket. The reminder job uses it.
package reminders
