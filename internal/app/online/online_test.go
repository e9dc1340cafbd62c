package online_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/app/online"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
	"github.com/iris-oncall/iris/internal/vendors/pretend"
)

// servers are what a configuration names.
type servers struct {
	smtp   *pretend.SMTP
	slack  *pretend.Slack
	twilio *pretend.Twilio
}

func begin(t *testing.T) servers {
	t.Helper()
	s := servers{
		smtp:   pretend.NewSMTP(pretend.SMTPConfig{Username: "iris", Password: "right-1"}, nil),
		slack:  pretend.NewSlack(pretend.SlackConfig{Token: "xoxb-right-2"}, nil),
		twilio: pretend.NewTwilio(pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "right-3"}, nil),
	}
	require.NoError(t, s.smtp.Start())
	t.Cleanup(s.smtp.Close)
	require.NoError(t, s.slack.Start())
	t.Cleanup(s.slack.Close)
	require.NoError(t, s.twilio.Start())
	t.Cleanup(s.twilio.Close)
	return s
}

// configured returns a configuration of the servers. secrets begin with a word.
func (s servers) configured(word, database string) online.Config {
	account := config.Account{Account: "main"}
	all := config.Common{Database: config.Database{URL: config.Secret(database), MaxConnections: 2}, PublicURL: "https://iris.example.com"}
	p := config.Processor{
		Common: all,
		SMTP: []config.SMTP{{Account: account, Addr: s.smtp.Addr(), From: "iris@example.com", Username: "iris",
			Password: config.Secret(word + "-1"), TLS: "none", AllowPlainAuth: true}},
		Slack: []config.Slack{{Account: account, Token: config.Secret("xoxb-" + word + "-2"), APIURL: s.slack.URL()}},
		Twilio: []config.Twilio{{Account: account, AccountSID: "AC1", AuthToken: config.Secret(word + "-3"), From: "+15005550006",
			APIURL: s.twilio.URL()}},
	}
	return online.Config{Database: all, Processor: &p}
}

func problems(t *testing.T, c online.Config) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, target := range online.Check(t.Context(), c, 20*time.Second) {
		require.NotContains(t, target.Problem, "\n")
		out[target.Name] = target.Problem
	}
	return out
}

func TestTargets(t *testing.T) {
	t.Parallel()
	s := begin(t)
	url := pgtest.New(t).Pool().Config().ConnString()
	works := map[string]string{"database": "", "smtp main": "", "slack main": "", "twilio main": "", "gossip": ""}
	require.Equal(t, works, problems(t, s.configured("right", url)))

	refused := problems(t, s.configured("wrong", url))
	for name, want := range map[string]string{"smtp main": "username and password", "slack main": "invalid_auth", "twilio main": "status 401"} {
		require.Contains(t, refused[name], want)
		require.Contains(t, refused[name], "check "+strings.Fields(name)[0]+".", "it says what to do")
	}
	for _, p := range refused {
		require.NotContains(t, p, "wrong-")
	}
	require.Empty(t, refused["database"])

	s.smtp.Close()
	s.slack.Close()
	s.twilio.Close()
	down := problems(t, s.configured("right", "postgres://iris:secret-4@127.0.0.1:1/iris"))
	require.Len(t, down, len(works))
	for name, p := range down {
		require.NotEmpty(t, p, name)
		require.NotContains(t, p, "right-")
		require.NotContains(t, p, "secret-4")
	}
}

func TestTargetsOfTheAPI(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	go func() {
		for {
			conn, err := taken.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 mail.example.com ESMTP Service Ready\r\n"))
			_ = conn.Close()
		}
	}()
	a := config.API{
		OIDC: []config.OIDC{{Name: "okta", Issuer: "http://127.0.0.1:1", ClientID: "iris", ClientSecret: "secret-5"}},
		LDAP: config.LDAP{URLs: []string{"ldap://127.0.0.1:1"}, BaseDN: "dc=x", BindUser: "cn=iris", BindPassword: "secret-6", Timeout: time.Second,
			Filter: "(uid={})", NameAttribute: "uid"},
	}
	a.PublicURL, a.Intake.SMTP.Addr, a.Intake.SMTP.Domain = "https://iris.example.com", taken.Addr().String(), "mail.example.com"
	c := online.Config{Database: config.Common{Database: config.Database{URL: "postgres://iris@127.0.0.1:1/iris", MaxConnections: 1}}, API: &a}
	found := problems(t, c)
	mail := "mail intake " + a.Intake.SMTP.Addr
	require.Empty(t, found[mail], "iris-api itself listens there")
	for _, name := range []string{"database", "provider okta", "ldap ldap://127.0.0.1:1"} {
		require.NotEmpty(t, found[name], name)
		require.NotContains(t, found[name], "secret-")
	}
	a.Intake.SMTP.Domain = "other.example.com"
	require.Contains(t, problems(t, c)[mail], "is in use")
}
