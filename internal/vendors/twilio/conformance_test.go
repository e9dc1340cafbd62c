package twilio_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/dev/vendortest"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/twilio"
)

func rig(t *testing.T) vendortest.Rig {
	p := pretend.NewTwilio(pretend.TwilioConfig{
		AccountSID: "AC0123456789abcdef0123456789abcdef", AuthToken: "secret-auth-token", From: []string{"+15005550006"},
	}, nil)
	require.NoError(t, p.Start())
	v, err := twilio.New(twilio.Config{
		AccountSID: "AC0123456789abcdef0123456789abcdef", AuthToken: "secret-auth-token", From: "+15005550006",
		APIURL: p.URL(), PublicURL: "https://iris.example",
	})
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); p.Close() })
	return vendortest.Rig{Vendor: v, Backend: p, Secrets: []string{"secret-auth-token", "+12025550123"}}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, mode := range []users.Mode{users.SMS, users.Call} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			vendortest.Run(t, vendortest.Suite{
				New: rig, Mode: mode, Destination: func(vendortest.Rig) string { return "+12025550123" },
				Malformed: []string{"ann", "+12", "+1202555012345678",
					"ann@example.com"}, RetryAfter: true, LongestBody: twilio.MaxSMS,
			})
		})
	}
}
