// Package notifications stores messages that belong to no incident: out-of-band notifications, reminders of shifts, notices
// about changes of calendars, and people's settings and calendar keys for them. The APIs and the reminder job use it.
package notifications
