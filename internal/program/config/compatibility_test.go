package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSettingsThatWeakenAccessAreChecked(t *testing.T) {
	t.Parallel()
	for content, problem := range map[string]string{
		"compatibility: {disable_auth: true}":                                                    `http.addr (IRIS_HTTP_ADDR): ":16649" can be reached from other machines`,
		"compatibility: {disable_auth: true}\nhttp: {addr: '0.0.0.0:1'}":                         "can be reached from other machines",
		"compatibility: {disable_auth: true}\nhttp: {addr: '192.0.2.1:1'}":                       "can be reached from other machines",
		"compatibility: {disable_auth: true}\nhttp: {addr: 'localhost:1'}\nadmin: {addr: ':2'}":  "admin.addr",
		"compatibility: {disable_auth: true}\nhttp: {addr: '127.0.0.1:1'}\nadmin: {addr: 'off'}": "",
		"compatibility: {disable_auth: true}\nhttp: {addr: '[::1]:1'}":                           "",
		"compatibility: {dummy_roles: true}":                                                     "",
		"http: {allowed_origins: ['https://a.example', 'http://b.example:81']}":                  "",
		"http: {allowed_origins: ['https://a.example/']}":                                        "is not an origin",
		"http: {allowed_origins: ['*']}":                                                         "is not an origin",
		"tags: [zone, a_b]":                                                                      "",
		"tags: [a__b]":                                                                           "cannot be the name of a tag",
		"incident_rate_limiting: {max_active_incidents: -1}":                                     "must not be negative",
		"auth: {tokens: {personal_max_life: 367d}}":                                              "must be between 1s and 366d",
		"auth: {scim: {max_deactivations: -1}}":                                                  "must be between 1 and 100000",
		"auth: {tokens: {service_max_life: 1ms}}":                                                "must be between 1s and 366d",
		"max_plan_length: -1h":                                                                   "must not be negative",
		"incident_rate_limiting: {recent_lookback: 48h}":                                         "must not be more than 24h",
	} {
		c, err := load(t, content, minimal...)
		require.NoError(t, err, content)
		_, err = c.API()
		if problem == "" {
			require.NoError(t, err, content)
		} else {
			require.ErrorContains(t, err, problem, content)
		}
	}
	c, err := load(t, "compatibility: {disable_auth: true, dummy_roles: true}\nhttp: {addr: '127.0.0.1:1'}\ninternal_applications: [sender]", minimal...)
	require.NoError(t, err)
	api, err := c.API()
	require.NoError(t, err)
	require.Equal(t, IncidentRates{MaxActive: 1000, MaxRecent: 1000, RecentLookback: 5 * time.Minute},
		api.IncidentRates)
	require.Equal(t, []string{"sender"}, api.InternalApplications)
	var said string
	for _, w := range c.Warnings() {
		said += w.Error() + "\n"
	}
	require.Contains(t, said, "compatibility.disable_auth): is set: no signature, key or password is checked")
	require.Contains(t, said, "compatibility.dummy_roles): is set")
	p, err := c.Processor()
	require.NoError(t, err)
	require.True(t, p.Compatibility.DummyRoles)
}
