package smtp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/dev/vendortest"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/smtp"
)

func pair(t *testing.T, server pretend.SMTPConfig, client smtp.Config) (*smtp.Vendor, *pretend.SMTP) {
	t.Helper()
	p := pretend.NewSMTP(server, nil)
	require.NoError(t, p.Start())
	client.Addr = p.Addr()
	if client.From == "" {
		client.From = "Iris <iris@example.com>"
	}
	v, err := smtp.New(client)
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); p.Close() })
	return v, p
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]pretend.SMTPConfig{
		"open":   {From: []string{"iris@example.com"}},
		"log-in": {From: []string{"iris@example.com"}, Username: "iris", Password: "secret-password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vendortest.Run(t, vendortest.Suite{
				New: func(t *testing.T) vendortest.Rig {
					v, p := pair(t, server, smtp.Config{Username: server.Username, Password: server.Password,
						AllowPlainAuth: true, TLS: smtp.Opportunistic})
					return vendortest.Rig{Vendor: v, Backend: p, Secrets: []string{"secret-password"}}
				},
				Mode: users.Email, Destination: func(vendortest.Rig) string { return "ann@example.com" },
				Malformed: []string{
					"ann", "@example.com", "ann@", "ann@example.com, bob@example.com", "ann@example.com\r\nBcc: bob@example.com",
					"\"a b\"@example.com", "ann@exa mple.com", "<ann@example.com> bob", "ann@[evil>]", "ann@-.com",
				},
				DefiniteBeforeData: true, RetryAfter: true,
			})
		})
	}
}
