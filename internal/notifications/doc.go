// Package notifications accepts out-of-band notifications. It finds the recipients, chooses a mode for each person, and
// stores the notification with one message for each recipient. /v0 calls it, and the operations of /v1 (Notifications). A
// fault names the field as bodies of /v1 spell it.
package notifications
