package devmode

import (
	"fmt"
	"net"
	"net/http"
	"time"
)

// vendorSettings is what servers need to talk to the mailbox's vendors: environment variables by kind.
type vendorSettings struct {
	smtp, slack, twilio, webhook map[string]string
	pages                        string // address of the mailbox's pages
}

// startMailbox starts the pretend vendors and the pages that show what they received.
func (s *Supervisor) startMailbox() (vendorSettings, func(), error) {
	box, err := NewMailbox(MailboxConfig{PublicURL: s.public})
	if err != nil {
		return vendorSettings{}, nil, err
	}
	if err := box.Start(); err != nil {
		return vendorSettings{}, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		box.Close()
		return vendorSettings{}, nil, fmt.Errorf("mailbox: %w", err)
	}
	server := &http.Server{Handler: box.Handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Close
	}()
	stop := func() {
		_ = server.Close()
		<-served
		box.Close()
	}
	return settingsOf(box.Vendors(), "http://"+listener.Addr().String()), stop, nil
}

func settingsOf(v MailboxVendors, pages string) vendorSettings {
	return vendorSettings{
		smtp: map[string]string{"IRIS_SMTP_ADDR": v.SMTPAddr, "IRIS_SMTP_FROM": v.SMTPFrom, "IRIS_SMTP_TLS": "none"},
		slack: map[string]string{
			"IRIS_SLACK_TOKEN": v.SlackToken, "IRIS_SLACK_SIGNING_SECRET": v.SlackSigningSecret, "IRIS_SLACK_API_URL": v.SlackAPIURL,
		},
		twilio: map[string]string{
			"IRIS_TWILIO_ACCOUNT_SID": v.TwilioAccountSID, "IRIS_TWILIO_AUTH_TOKEN": v.TwilioAuthToken,
			"IRIS_TWILIO_FROM": v.TwilioFrom, "IRIS_TWILIO_API_URL": v.TwilioAPIURL,
		},
		webhook: map[string]string{
			"IRIS_WEBHOOK_SECRET": v.WebhookSecret, "IRIS_WEBHOOK_ALLOW_PRIVATE": "true", "IRIS_WEBHOOK_ALLOW_HTTP": "true",
		},
		pages: pages,
	}
}
