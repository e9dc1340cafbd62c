package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// notifier stores notifications.
type notifier interface {
	Create(ctx context.Context, n messages.Notification) (request int64, err error)
}

// Mail puts mails into the queue, as notifications of Iris itself. It is safe for concurrent use.
type Mail struct {
	applications  auth.Applications
	notifications notifier
}

var _ accounts.Mailer = Mail{}

// NewMail returns a mailer.
func NewMail(applications auth.Applications, notifications notifier) Mail {
	return Mail{applications, notifications}
}

// Send implements accounts.Mailer.
func (m Mail) Send(ctx context.Context, to, subject, body string, life time.Duration) error {
	app, err := m.applications.ByName(ctx, auth.SessionApplication)
	if err != nil {
		return err
	}
	_, err = m.notifications.Create(ctx, messages.Notification{
		ApplicationID: app.ID, Subject: subject, Body: body, Priority: users.High, Lifetime: life, Bare: true,
		Recipients: []messages.NotificationRecipient{{Recipient: messages.ToLiteral(to), Target: to, Mode: users.Email,
			Literal: to}},
	})
	return err
}
