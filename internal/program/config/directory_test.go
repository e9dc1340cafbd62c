package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDirectories(t *testing.T) {
	t.Parallel()
	garbage := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(garbage, []byte("no certificate"), 0o600))
	const server = "auth: {ldap: {urls: ['ldaps://h'], base_dn: 'dc=x', "
	for content, problem := range map[string]string{
		server + "}}":                                                                "",
		server + "start_tls: true}}":                                                 "use start_tls only with ldap:",
		server + "bind_user: 'cn=x'}}":                                               "bind_user and bind_password go together",
		server + "filter: '(uid=x)'}}":                                               "must contain %s",
		server + "filter: '(uid=%s'}}":                                               "parentheses",
		server + "timeout: 2m}}":                                                     "must be at most 1m",
		server + "timeout: -1s}}":                                                    "must not be negative",
		server + "ca_file: /nowhere}}":                                               "no such file",
		server + "ca_file: " + garbage + "}}":                                        "contains no certificate",
		"auth: {ldap: {base_dn: 'dc=x'}}":                                            "auth.ldap.urls: is missing",
		"auth: {ldap: {urls: ['ldaps://h']}}":                                        "auth.ldap.base_dn: is missing",
		"auth: {ldap: {urls: ['ldaps://h'], user_suffix: '@x'}}":                     "",
		"auth: {ldap: {urls: ['ldaps://h'], user_suffix: '@x', import: true}}":       "auth.ldap.base_dn: is missing",
		"auth: {ldap: {urls: ['ldap://h'], base_dn: x}}":                             "would be sent unencrypted",
		"auth: {ldap: {urls: ['ldap://127.0.0.1:389'], base_dn: x}}":                 "",
		"auth: {ldap: {urls: ['ldap://[::1]'], base_dn: x}}":                         "",
		"auth: {ldap: {urls: ['ldap://h'], base_dn: x, start_tls: true}}":            "",
		"auth: {ldap: {urls: ['ldap://h'], base_dn: x, allow_plaintext: true}}":      "",
		"auth: {ldap: {urls: ['https://h'], base_dn: x}}":                            "must be ldaps://host or ldap://host:port",
		"auth: {ldap: {urls: ['ldaps://u:secret@h'], base_dn: x}}":                   "must be ldaps://host or ldap://host:port",
		"sync: {from: ldap}":                                                         "auth.ldap.urls: is missing",
		"sync: {from: slack}":                                                        "slack[0].token (IRIS_SLACK_TOKEN): is missing",
		"sync: {from: slack}\nslack: [{token: xoxb-1}]":                              "",
		"sync: {from: slak}":                                                         "did you mean slack",
		"sync: {every: 1s}":                                                          "at least 1m",
		"sync: {max_gone_percent: 101}":                                              "between 1 and 100",
		"sync: {phone_region: Swiss}":                                                "two capital letters",
		"sync: {presets: [{full_name: X}]}":                                          "sync.presets[0].name: is missing",
		"sync: {lists: {filter: '(cn=*)'}}":                                          "needs sync.from: ldap",
		"sync: {photo_url: 'photos/{name}'}":                                         "must be a URL",
		"sync: {slack_contact: id}":                                                  "is unknown",
		"sync: {from: ldap, filter: 'cn=*'}\n" + server + "}}":                       "parentheses",
		"sync: {from: ldap, lists: {filter: '(cn=*)'}, every: 2h}\n" + server + "}}": "",
	} {
		c, err := load(t, content, minimal...)
		require.NoError(t, err, content)
		for server, judge := range map[string]func() error{
			"api":       func() error { _, err := c.API(); return err },
			"processor": func() error { _, err := c.Processor(); return err },
		} {
			if problem == "" {
				require.NoError(t, judge(), "%s: %s", server, content)
			} else {
				require.ErrorContains(t, judge(), problem, "%s: %s", server, content)
				require.NotContains(t, judge().Error(), "secret")
			}
		}
	}
	c, err := load(t, "sync: {from: ldap}\n"+server+"bind_user: 'cn=x'}}",
		append([]string{"IRIS_LDAP_BIND_PASSWORD=hush"}, minimal...)...)
	require.NoError(t, err)
	d, err := c.Directory()
	require.NoError(t, err)
	require.Equal(t, Secret("hush"), d.LDAP.BindPassword)
	require.Equal(t, 5*time.Second, d.LDAP.Timeout)
	require.Equal(t, Sync{From: "ldap", Every: time.Hour, MaxGonePercent: 10, SlackContact: "email"}, d.Sync)
	require.True(t, d.LDAP.LogsIn())

	c, err = load(t, "", minimal...)
	require.NoError(t, err)
	_, err = c.Directory()
	require.ErrorContains(t, err, "sync.from")
}
