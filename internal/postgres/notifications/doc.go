// Package notifications stores out-of-band notifications, which belong to no incident, and the settings and calendar keys of people
// for notices of their shifts. The APIs and package reminders use it.
package notifications
