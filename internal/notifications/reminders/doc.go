// Package reminders stores the messages about shifts: reminders before a shift, notices about changes of a calendar, swap requests
// that expired, and warnings of schedules. Due reminders are read, get their text from package notices, and are stored as
// notifications in one transaction under the lease of the team's bucket. The reminder job uses it.
package reminders
