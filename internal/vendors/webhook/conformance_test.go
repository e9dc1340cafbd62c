package webhook_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/dev/vendortest"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/webhook"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func rig(t *testing.T) vendortest.Rig {
	p := pretend.NewWebhook(pretend.WebhookConfig{Secret: secret}, nil)
	require.NoError(t, p.Start())
	v, err := webhook.New(webhook.Config{Secrets: []string{secret}, AllowPrivate: true, AllowHTTP: true})
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); p.Close() })
	return vendortest.Rig{Vendor: v, Backend: p, Secrets: []string{secret, secret[6:]}}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	vendortest.Run(t, vendortest.Suite{
		New: rig, Mode: users.Webhook,
		Destination: func(r vendortest.Rig) string { return r.Backend.(*pretend.Webhook).URL() + "/hook?a=1" },
		Malformed: []string{"ftp://example.com/", "example.com", "https://", "http://[::1",
			"javascript:alert(1)"}, RetryAfter: true,
	})
}
