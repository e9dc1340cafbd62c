// Package pg stores out-of-band notifications, which belong to no incident, the notice settings and feed keys of
// people, and reads the audit log of calendars. The APIs and package reminders use it.
package pg
