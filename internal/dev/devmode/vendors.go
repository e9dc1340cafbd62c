package devmode

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// vendorSettings has the environment variables that configure the servers for the pretend vendors, by kind.
type vendorSettings struct {
	smtp, slack, twilio, webhook, push map[string]string
	pages                              string // address of the mailbox's pages
}

const (
	mailboxFrom   = "Iris <iris@example.com>"
	mailboxSender = "iris@example.com"
	mailboxNumber = "+12025550199"
	// keepMessages is the maximum of messages in the mailbox.
	keepMessages = 1000
)

// startMailbox starts the pretend vendors and the mailbox, each on a free port of the loopback interface, with random
// credentials.
func (s *Supervisor) startMailbox() (vendorSettings, func(), error) {
	slackToken, slackSecret, twilioToken := "xoxb-"+random(12), random(16), random(16)
	twilioSID := "AC" + random(16)
	webhookSecret := "whsec_" + base64.StdEncoding.EncodeToString([]byte(random(16)))
	vendors := pretend.New(pretend.Config{
		SMTP:  pretend.SMTPConfig{From: []string{mailboxSender}},
		Slack: pretend.SlackConfig{Token: slackToken, SigningSecret: slackSecret},
		Twilio: pretend.TwilioConfig{AccountSID: twilioSID, AuthToken: twilioToken, From: []string{mailboxNumber},
			AutoAnswer: true, AutoStatus: true},
		Webhook: pretend.WebhookConfig{Secret: webhookSecret},
		Keep:    keepMessages,
	})
	if err := vendors.Start(); err != nil {
		return vendorSettings{}, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		vendors.Close()
		return vendorSettings{}, nil, fmt.Errorf("mailbox: %w", err)
	}
	server := &http.Server{Handler: newMailbox(vendors, s.public), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Close
	}()
	stop := func() {
		_ = server.Close()
		<-served
		vendors.Close()
	}
	return vendorSettings{
		smtp: map[string]string{"IRIS_SMTP_ADDR": vendors.SMTP.Addr(), "IRIS_SMTP_FROM": mailboxFrom,
			"IRIS_SMTP_TLS": "none"},
		slack: map[string]string{
			"IRIS_SLACK_TOKEN": slackToken, "IRIS_SLACK_SIGNING_SECRET": slackSecret, "IRIS_SLACK_API_URL": vendors.Slack.URL(),
		},
		twilio: map[string]string{
			"IRIS_TWILIO_ACCOUNT_SID": twilioSID, "IRIS_TWILIO_AUTH_TOKEN": twilioToken, "IRIS_TWILIO_FROM": mailboxNumber,
			"IRIS_TWILIO_API_URL": vendors.Twilio.URL(),
		},
		webhook: map[string]string{
			"IRIS_WEBHOOK_SECRET": webhookSecret, "IRIS_WEBHOOK_ALLOW_PRIVATE": "true", "IRIS_WEBHOOK_ALLOW_HTTP": "true",
		},
		push: map[string]string{"IRIS_PUSH_CREDENTIALS": vendors.Push.Credentials(),
			"IRIS_PUSH_API_URL": vendors.Push.URL()},
		pages: "http://" + listener.Addr().String(),
	}, stop, nil
}

// random returns 2n hexadecimal digits.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}
