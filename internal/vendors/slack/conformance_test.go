package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/dev/vendortest"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/slack"
)

const token = "xoxb-secret-token"

func pair(t *testing.T, cfg pretend.SlackConfig) (*slack.Vendor, *pretend.Slack) {
	t.Helper()
	cfg.Token = token
	p := pretend.NewSlack(cfg, nil)
	require.NoError(t, p.Start())
	v, err := slack.New(slack.Config{Token: token, APIURL: p.URL()})
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); p.Close() })
	return v, p
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, dest := range []string{"#ops", "ann@example.com"} {
		t.Run(dest, func(t *testing.T) {
			t.Parallel()
			vendortest.Run(t, vendortest.Suite{
				New: func(t *testing.T) vendortest.Rig {
					v, p := pair(t, pretend.SlackConfig{})
					return vendortest.Rig{Vendor: v, Backend: p, Secrets: []string{token}}
				},
				Mode: users.Slack, Destination: func(vendortest.Rig) string { return dest }, Malformed: []string{"#",
					"@"},
				RetryAfter: true, LongestBody: 4000,
			})
		})
	}
}
