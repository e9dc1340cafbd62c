package online_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/online"
)

// servers are what a configuration names.
type servers struct {
	smtp   *pretend.SMTP
	slack  *pretend.Slack
	twilio *pretend.Twilio
	push   *pretend.Push
}

func begin(t *testing.T) servers {
	t.Helper()
	s := servers{
		smtp:   pretend.NewSMTP(pretend.SMTPConfig{Username: "iris", Password: "right-1"}, nil),
		slack:  pretend.NewSlack(pretend.SlackConfig{Token: "xoxb-right-2"}, nil),
		twilio: pretend.NewTwilio(pretend.TwilioConfig{AccountSID: "AC1", AuthToken: "right-3"}, nil),
		push:   pretend.NewPush(pretend.PushConfig{}, nil),
	}
	require.NoError(t, s.smtp.Start())
	t.Cleanup(s.smtp.Close)
	require.NoError(t, s.slack.Start())
	t.Cleanup(s.slack.Close)
	require.NoError(t, s.twilio.Start())
	t.Cleanup(s.twilio.Close)
	require.NoError(t, s.push.Start())
	t.Cleanup(s.push.Close)
	return s
}

// configured returns a configuration of the servers. secrets begin with a word.
func (s servers) configured(word, database string) online.Config {
	account := config.Account{Account: "main"}
	all := config.Common{Database: config.Database{URL: config.Secret(database), MaxConnections: 2},
		PublicURL: "https://iris.example.com"}
	p := config.Processor{
		Common: all,
		SMTP: []config.SMTP{{Account: account, Addr: s.smtp.Addr(), From: "iris@example.com", Username: "iris",
			Password: config.Secret(word + "-1"), TLS: "none", AllowPlainAuth: true}},
		Slack: []config.Slack{{Account: account, Token: config.Secret("xoxb-" + word + "-2"), APIURL: s.slack.URL()}},
		Twilio: []config.Twilio{{Account: account, AccountSID: "AC1", AuthToken: config.Secret(word + "-3"),
			From:   "+15005550006",
			APIURL: s.twilio.URL()}},
		Push: []config.Push{{Account: account, Credentials: config.Secret(s.credentials(word)), APIURL: s.push.URL()}},
	}
	return online.Config{Database: all, Processor: &p}
}

// credentials are those of the pretended Firebase project, with the key of another project unless the word is right.
func (s servers) credentials(word string) string {
	if word == "right" {
		return s.push.Credentials()
	}
	var good, other map[string]string
	_ = json.Unmarshal([]byte(s.push.Credentials()), &good)
	foreign := pretend.NewPush(pretend.PushConfig{}, nil)
	_ = foreign.Start()
	defer foreign.Close()
	_ = json.Unmarshal([]byte(foreign.Credentials()), &other)
	good["private_key"] = other["private_key"]
	out, _ := json.Marshal(good)
	return string(out)
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
	works := map[string]string{"database": "", "smtp main": "", "slack main": "", "twilio main": "", "push main": "",
		"gossip": ""}
	require.Equal(t, works, problems(t, s.configured("right", url)))

	refused := problems(t, s.configured("wrong", url))
	for name, want := range map[string]string{"smtp main": "username and password", "slack main": "invalid_auth", "twilio main": "status 401",
		"push main": "invalid_grant"} {
		require.Contains(t, refused[name], want)
		require.Contains(t, refused[name], "check "+strings.Fields(name)[0]+".", "it says what to do")
	}
	for _, p := range refused {
		require.NotContains(t, p, "wrong-")
		require.NotContains(t, p, "PRIVATE KEY")
	}
	require.Empty(t, refused["database"])

	s.smtp.Close()
	s.slack.Close()
	s.twilio.Close()
	good := s.configured("right", "postgres://iris:secret-4@127.0.0.1:1/iris")
	s.push.Close()
	down := problems(t, good)
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
		LDAP: config.LDAP{URLs: []string{"ldap://127.0.0.1:1"}, BaseDN: "dc=x", BindUser: "cn=iris",
			BindPassword: "secret-6", Timeout: time.Second,
			Filter: "(uid={})", NameAttribute: "uid"},
	}
	a.PublicURL, a.Intake.SMTP.Addr, a.Intake.SMTP.Domain = "https://iris.example.com", taken.Addr().String(), "mail.example.com"
	c := online.Config{Database: config.Common{Database: config.Database{URL: "postgres://iris@127.0.0.1:1/iris",
		MaxConnections: 1}}, API: &a}
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

// issuer is a provider of single sign-on that only describes itself, at its own address under a path.
func issuer(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("/corp/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		at := s.URL + "/corp"
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": at, "authorization_endpoint": at + "/auth",
			"token_endpoint": at + "/token",
			"jwks_uri":       at + "/keys", "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("/corp/keys", func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write([]byte(`{"keys": []}`))
	})
	return s
}

// directory is an LDAP server that checks log-ins and nothing else. It returns its address.
func directory(t *testing.T, name, password string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				for {
					asked, err := ber.ReadPacket(conn)
					if err != nil || len(asked.Children) < 2 || len(asked.Children[1].Children) < 3 {
						return
					}
					log := asked.Children[1].Children
					code := int64(49) // invalid credentials
					if log[1].Value == name && log[2].Data.String() == password {
						code = 0
					}
					answer := ber.NewSequence("message")
					answer.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger,
						asked.Children[0].Value, "id"))
					result := ber.Encode(ber.ClassApplication, ber.TypeConstructed, 1, nil, "bind response")
					result.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagEnumerated, code,
						"code"))
					for range 2 {
						result.AppendChild(ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, "",
							"text"))
					}
					answer.AppendChild(result)
					if _, err := conn.Write(answer.Bytes()); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return "ldap://" + l.Addr().String()
}

// Single sign-on and LDAP servers that run are told from those that refuse.
func TestProvidersAndDirectories(t *testing.T) {
	t.Parallel()
	ldap, sso := directory(t, "cn=iris", "right-6"), issuer(t)
	c := func(address, password string) online.Config {
		a := config.API{
			OIDC: []config.OIDC{{Name: "corp", Issuer: address, ClientID: "iris", ClientSecret: "secret-5"}},
			LDAP: config.LDAP{URLs: []string{ldap}, BaseDN: "dc=x", BindUser: "cn=iris",
				BindPassword: config.Secret(password), Timeout: 10 * time.Second,
				Filter: "(uid={})", NameAttribute: "uid"},
		}
		a.PublicURL = "https://iris.example.com"
		return online.Config{Database: config.Common{Database: config.Database{URL: "postgres://iris@127.0.0.1:1/iris",
			MaxConnections: 1}}, API: &a}
	}
	found := problems(t, c(sso.URL+"/corp", "right-6"))
	require.Empty(t, found["provider corp"])
	require.Empty(t, found["ldap "+ldap])
	require.Len(t, found, 3)

	found = problems(t, c(sso.URL+"/corp/", "wrong-6")) // the provider writes its issuer without the slash
	require.Contains(t, found["provider corp"], "exactly as the provider writes it")
	require.Contains(t, found["ldap "+ldap], "check auth.ldap")
	require.NotContains(t, found["ldap "+ldap], "wrong-6")
	require.NotEmpty(t, problems(t, c(sso.URL+"/other", "right-6"))["provider corp"],
		"there is no provider at this address")
}
