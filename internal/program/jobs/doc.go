// Package jobs does the periodic work of a server: it fills calendars, reminds people of shifts, syncs people from a
// directory, and cleans up stored data. The servers create the jobs and run each in its own goroutine. A job for a
// bucket runs only on the owner of the bucket. Package jobs knows neither HTTP nor how messages are sent.
package jobs
