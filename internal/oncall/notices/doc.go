// Package notices writes the texts of reminders and of notices about changed shifts. The job that sends them calls it. It
// is pure, and does not know who gets a notice or by which mode.
package notices
