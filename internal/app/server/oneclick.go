package server

import (
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/messages"
)

// NewOneClick returns what signs Gmail's button; nil when there is none.
func NewOneClick(c config.Common) (*auth.OneClick, error) {
	if !c.GmailOneClick.Enabled {
		return nil, nil
	}
	return auth.NewOneClick(c.GmailOneClick.Key.Reveal(), c.GmailOneClick.Endpoint)
}

// OneClickButton gives incident mails and digests to people the address of the button.
func OneClickButton(o *auth.OneClick) func(messages.Outbound) string {
	if o == nil {
		return nil
	}
	return func(m messages.Outbound) string {
		if m.AckURL == "" {
			return "" // nothing to claim, or nobody to do it
		}
		return o.URL(int64(m.MessageID), m.Destination, "claim", time.Now().Add(auth.LinkLife))
	}
}
