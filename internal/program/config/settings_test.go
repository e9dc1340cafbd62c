package config

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The settings in force name their source, and no secret and no password of an address is among them.
func TestSettingsInForce(t *testing.T) {
	t.Parallel()
	c, err := Load("", []string{
		"IRIS_DATABASE_URL=postgres://iris:hidden-1@db/iris", "IRIS_SECRET_KEY=hidden-2-0123456789012345678901234", "IRIS_PUBLIC_URL=https://user:hidden-3@iris.example.com",
		"IRIS_SLACK_TOKEN=hidden-4", "IRIS_WEBHOOK_SECRET=whsec_hidden-5", "IRIS_SMTP_PASSWORD=hidden-6", "IRIS_SMTP_ADDR=mail:25", "IRIS_GOSSIP_KEY=hidden-7", "IRIS_PUSH_CREDENTIALS=hidden-8",
		"IRIS_OIDC_CLIENT_SECRET=hidden-9", "IRIS_LDAP_BIND_PASSWORD=hidden-10", "IRIS_TWILIO_AUTH_TOKEN=hidden-11", "IRIS_SLACK_SIGNING_SECRET=hidden-12",
	})
	require.NoError(t, err)
	api, _ := c.API()
	found := map[string]Setting{}
	for _, s := range api.InForce {
		found[s.Key] = s
	}
	require.Equal(t, Setting{"secret_key", "set", "IRIS_SECRET_KEY"}, found["secret_key"])
	require.Equal(t, "set", found["smtp[0].password"].Value)
	require.Equal(t, Setting{"smtp[0].addr", "mail:25", "IRIS_SMTP_ADDR"}, found["smtp[0].addr"])
	require.Equal(t, Setting{"http.session_ttl", "12h0m0s", ""}, found["http.session_ttl"])
	require.Equal(t, "not set", found["gmail_one_click.key"].Value)
	require.Equal(t, "https://xxxxx@iris.example.com", found["public_url"].Value)
	require.NotContains(t, fmt.Sprint(api.InForce), "hidden")
}
