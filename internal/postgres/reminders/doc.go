// Package reminders stores the messages about shifts: reminders before a shift, notices about changes of a calendar, swap requests
// that expired, and warnings of schedules. One transaction under the lease of the team's bucket reads what is due, gets the
// texts from package notices, and stores the notifications. The reminder job uses it.
package reminders
