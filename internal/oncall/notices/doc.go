// Package notices writes the texts of reminders and of notices about changed shifts. The job that sends them calls it.
// It is pure. It does not know who gets a notice, or in which mode.
package notices
