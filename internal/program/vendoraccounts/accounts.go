// Package vendoraccounts builds the vendors of a configuration. message-processor calls it. It sends nothing.
package vendoraccounts

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/health"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/drop"
	"github.com/iris-oncall/iris/internal/vendors/push"
	"github.com/iris-oncall/iris/internal/vendors/slack"
	"github.com/iris-oncall/iris/internal/vendors/smtp"
	"github.com/iris-oncall/iris/internal/vendors/twilio"
	"github.com/iris-oncall/iris/internal/vendors/webhook"
)

// New builds every configured account, in order of preference: spares after the others, drop last. The error is that of
// the first account that cannot be built. button returns the URL of the button in a mail; nil = no button. The log gets
// a line when an account fails or works again.
func New(c config.Processor, devices push.Devices, button func(messages.Outbound) string, log *zap.Logger) ([]messages.Vendor, error) {
	var first, spare []messages.Vendor
	var failed error // the first
	add := func(v messages.Vendor, err error, kind string, a config.Account) {
		switch {
		case err != nil:
			failed = cmp.Or(failed, fmt.Errorf("%s account %s: %w", kind, a.Account, err))
		case a.Spare:
			spare = append(spare, health.Observe(v, log))
		default:
			first = append(first, health.Observe(v, log))
		}
	}
	for _, a := range c.SMTP {
		var v *smtp.Vendor
		mail, err := smtpConfig(a, c.Delivery.Concurrency, button)
		if err == nil {
			v, err = smtp.New(mail)
		}
		add(v, err, "smtp", a.Account)
	}
	for _, a := range c.Slack {
		v, err := slack.New(slack.Config{
			Account: a.Account.Account, Token: a.Token.Reveal(), APIURL: a.APIURL, Timeout: a.Timeout, MaxConns: c.Delivery.Concurrency,
		})
		add(v, err, "slack", a.Account)
	}
	for _, a := range c.Twilio {
		v, err := twilio.New(twilioConfig(a, c))
		add(v, err, "twilio", a.Account)
	}
	for _, a := range c.Webhook {
		secrets := make([]string, len(a.Secrets))
		for i, s := range a.Secrets {
			secrets[i] = s.Reveal()
		}
		v, err := webhook.New(webhook.Config{
			Account: a.Account.Account, Secrets: secrets, AllowPrivate: a.AllowPrivate, AllowHTTP: a.AllowHTTP, Timeout: a.Timeout,
			MaxConns: c.Delivery.Concurrency,
		})
		add(v, err, "webhook", a.Account)
	}
	for _, a := range c.Push {
		v, err := push.New(push.Config{
			Account: a.Account.Account, Credentials: a.Credentials.Reveal(), APIURL: a.APIURL, TokenURL: a.TokenURL, Timeout: a.Timeout,
			Devices: loggedDevices{devices, log}, MaxConns: c.Delivery.Concurrency,
		})
		add(v, err, "push", a.Account)
	}
	discard, err := drop.New(drop.Config{})
	if err := cmp.Or(failed, err); err != nil {
		return nil, err
	}
	return slices.Concat(first, spare, []messages.Vendor{discard}), nil
}

func smtpConfig(a config.SMTP, concurrency int, button func(messages.Outbound) string) (smtp.Config, error) {
	connections := a.Connections
	if connections == 0 || concurrency > 0 && concurrency < connections {
		connections = concurrency
	}
	out := smtp.Config{
		Account: a.Account.Account, Addr: a.Addr, From: a.From, ReplyTo: a.ReplyTo, TLS: smtpTLS(a.TLS),
		Username: a.Username, Password: a.Password.Reveal(), AllowPlainAuth: a.AllowPlainAuth, Hello: a.Hello,
		MaxConns: connections, Timeout: a.Timeout, OneClick: button,
	}
	if a.CAFile != "" {
		raw, err := os.ReadFile(a.CAFile)
		if err != nil {
			return out, fmt.Errorf("ca_file: %w", err)
		}
		out.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !out.TLSConfig.RootCAs.AppendCertsFromPEM(raw) {
			return out, fmt.Errorf("ca_file: %s holds no certificate in PEM", a.CAFile)
		}
	}
	return out, nil
}

func twilioConfig(a config.Twilio, c config.Processor) twilio.Config {
	return twilio.Config{
		Account: a.Account.Account, AccountSID: a.AccountSID, AuthToken: a.AuthToken.Reveal(), KeySID: a.KeySID,
		KeySecret: a.KeySecret.Reveal(), From: a.From, CallFrom: a.CallFrom, ApplicationFrom: a.ApplicationFrom, APIURL: a.APIURL,
		PublicURL: c.PublicURL, DetectMachines: a.DetectMachines, Modes: modes(a.Modes), Timeout: a.Timeout,
		MaxConns: c.Delivery.Concurrency,
	}
}

// loggedDevices logs that a device was switched off. The log lines do not identify the device.
type loggedDevices struct {
	push.Devices
	log *zap.Logger
}

// SwitchOff marks a device as dead.
func (d loggedDevices) SwitchOff(ctx context.Context, token string) error {
	err := d.Devices.SwitchOff(ctx, token)
	if err != nil {
		d.log.Warn("a dead device cannot be switched off", zap.Error(err))
	} else {
		d.log.Info("a device that is not registered any more was switched off")
	}
	return err
}

func smtpTLS(word string) smtp.TLSMode {
	if word == "tls" {
		return smtp.Implicit
	}
	return smtp.TLSMode(word)
}

func modes(names []string) []users.Mode {
	out := make([]users.Mode, len(names))
	for i, w := range names {
		out[i] = users.Mode(w)
	}
	return out
}
