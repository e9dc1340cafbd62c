package server

import (
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/program/config"
)

// NewOneClick returns the signer of Gmail's button; nil if it is not enabled.
func NewOneClick(c config.Common) (*auth.OneClick, error) {
	if !c.GmailOneClick.Enabled {
		return nil, nil
	}
	return auth.NewOneClick(c.GmailOneClick.Key.Reveal(), c.GmailOneClick.Endpoint)
}

// OneClickButton returns a function that makes the URL of the button for e-mails to people about incidents.
func OneClickButton(o *auth.OneClick) func(messages.Outbound) string {
	if o == nil {
		return nil
	}
	return func(m messages.Outbound) string {
		if m.AckURL == "" {
			return "" // no incident to acknowledge, or no recipient who may do it
		}
		return o.URL(int64(m.MessageID), m.Destination, "claim", time.Now().Add(auth.LinkLife))
	}
}
