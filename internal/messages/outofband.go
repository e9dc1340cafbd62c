package messages

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Notification is an out-of-band notification about to be accepted: its text and recipients. Accepting it makes its
// messages in the same transaction (promise P1).
type Notification struct {
	ApplicationID int64
	// Version is the version that the application must have; otherwise a Stale fault refuses the notification. 0 = any.
	Version    int64
	Subject    string
	Body       string
	EmailHTML  string
	Template   string          // "" = none
	Context    json.RawMessage // for the template; nil = none
	Sender     string          // custom sender address, "" = the configured one
	Priority   users.Priority  // "" if a mode was requested
	Recipients []NotificationRecipient
	Lifetime   time.Duration // from acceptance; messages not sent by then are dropped
	// Bare notifications keep their subject as it is, without the application's name before it: answers to mails.
	Bare bool
	// ShownTo are the e-mail addresses that each of its mails names as recipients; empty = each mail names only its
	// own.
	ShownTo []string
}

// NotificationRecipient is one message of a notification.
type NotificationRecipient struct {
	Recipient Recipient
	Target    string // name shown on the wire
	UserID    users.ID
	Mode      users.Mode
	Literal   string
	Purpose   Purpose  // "" = Primary
	Changed   bool     // the mode is not the requested one, because there is no contact for that
	Changes   []Change // for the message's audit log: changes of its mode
	// Shown is the e-mail address of this recipient in the mails to the others; "" = not shown.
	Shown string
}

// Category is a kind of notification that an application defines. Mode is for people who chose no other mode.
type Category struct {
	ID   int64
	Mode users.Mode
}

// modeFailureText is the text for the audit log of a message whose recipient cannot be reached in the intended mode.
const modeFailureText = "Changing mode due to original mode failure"

// ModeFailure is the audit log line of a message that is sent in mode because wanted cannot reach its recipient.
func ModeFailure(wanted, mode users.Mode) Change {
	return Change{Type: "mode-change", Old: string(wanted), New: string(mode), Description: modeFailureText}
}

// Accepted is an out-of-band notification as it was accepted. Its messages show its progress.
type Accepted struct {
	ID          int64          `json:"id"`
	Application string         `json:"application"`
	Subject     string         `json:"subject"`
	Template    operation.Text `json:"template" doc:"null = none"`
	CreatedAt   time.Time      `json:"created_at"`
}

// Location is the address of the notification.
func (a Accepted) Location() string { return operation.Path("/v1/notifications/{id}", a.ID) }

// UTC returns the notification with its time in UTC.
func (a Accepted) UTC() Accepted {
	a.CreatedAt = a.CreatedAt.UTC()
	return a
}
