package messages

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// Notification is an out-of-band notification about to be accepted: its words and for whom it is. Accepting it makes
// its messages in the same transaction (promise P1).
type Notification struct {
	ApplicationID int64
	Subject       string
	Body          string
	EmailHTML     string
	Template      string          // "" = none
	Context       json.RawMessage // for the template; nil = none
	Sender        string          // custom sender address, "" = the configured one
	Priority      users.Priority  // "" when a mode was asked for
	Recipients    []NotificationRecipient
	Lifetime      time.Duration // from acceptance; after it, what did not leave is dropped
	// Bare notifications keep their subject as it is, without the application's name in front: answers to mails.
	Bare bool
	// ShownTo are the e-mail addresses that every mail of it names as recipients; empty = each names only its own.
	ShownTo []string
}

// NotificationRecipient is one message of a notification.
type NotificationRecipient struct {
	Recipient Recipient
	Target    string // name shown on the wire
	UserID    users.ID
	Mode      users.Mode
	Literal   string
	Changed   bool     // the mode is not the one asked for, because there is no contact for that
	Changes   []Change // lines of the message's audit log: changes of its mode
	// Shown is the e-mail address under which the other recipients see this one; "" = they do not.
	Shown string
}

// Category is a kind of notifications that an application named, with the mode in which people hear of it unless they chose
// another.
type Category struct {
	ID   int64
	Mode users.Mode
}

// ModeFailureText is what the audit log of a message says whose recipient cannot be reached in the mode meant for it.
const ModeFailureText = "Changing mode due to original mode failure"

// ModeFailure is the line of the audit log about that.
func ModeFailure(wanted, mode users.Mode) Change {
	return Change{Type: "mode-change", Old: string(wanted), New: string(mode), Description: ModeFailureText}
}

// Accepted is an out-of-band notification as it was accepted. Its messages say what became of it.
type Accepted struct {
	ID          int64
	Application string
	Subject     string
	Template    string // "" = none
	CreatedAt   time.Time
}
