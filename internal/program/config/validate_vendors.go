package config

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/mail"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (l *loader) smtp(path string, s *SMTP, n int) {
	l.apply(path, s)
	l.account(path, &s.Account, n, 20*time.Second)
	if l.required(path+".addr", s.Addr) {
		l.address(path+".addr", s.Addr, false)
	}
	if l.required(path+".from", s.From) {
		if _, err := mail.ParseAddress(s.From); err != nil {
			l.problem(l.where(path+".from"), "%q is not an e-mail address", s.From)
		}
	}
	l.caFile(path+".ca_file", s.CAFile)
	if s.CAFile != "" && s.TLS == "none" {
		l.problem(l.where(path+".ca_file"), "has no effect with tls: none")
	}
	if (s.Username == "") != (s.Password == "") && !l.broken[path+".password"] {
		l.problem(l.where(path+".username"), "username and password go together: set both or neither")
	}
	host, port, _ := net.SplitHostPort(s.Addr)
	ip, err := netip.ParseAddr(host)
	loopback := host == "localhost" || err == nil && ip.IsLoopback()
	switch {
	case s.TLS != "":
	case port == "465":
		s.TLS = "tls"
	case s.Username != "" && !loopback:
		s.TLS = "starttls"
	default:
		s.TLS = "opportunistic"
	}
	s.AllowPlainAuth = s.AllowPlainAuth || loopback
	if s.TLS == "none" && s.Password != "" && !s.AllowPlainAuth {
		l.problem(l.where(path+".tls"), "the password would be sent unencrypted; use tls or starttls, or permit it with allow_plain_auth")
	}
}

// Formats of the vendors' tokens and ids.
var (
	slackToken    = regexp.MustCompile(`^(xoxe\.)?xox[bp]-[A-Za-z0-9-]+$`)
	twilioAccount = regexp.MustCompile(`^AC[0-9a-fA-F]{32}$`)
	twilioKey     = regexp.MustCompile(`^SK[0-9a-fA-F]{32}$`)
)

func (l *loader) slack(path string, s *Slack, n int) {
	l.apply(path, s)
	l.account(path, &s.Account, n, 10*time.Second)
	set := l.required(path+".token", s.Token.Reveal())
	// Another server than Slack's may have other tokens.
	if s.APIURL == "" && set && !slackToken.MatchString(s.Token.Reveal()) {
		l.problem(l.where(path+".token"), "is not a token of Slack; use the Bot User OAuth Token of the app (xoxb-...)")
	}
}

func (l *loader) twilio(path string, t *Twilio, n int) {
	l.apply(path, t)
	l.account(path, &t.Account, n, 10*time.Second)
	if l.required(path+".account_sid", t.AccountSID) && t.APIURL == "" && !twilioAccount.MatchString(t.AccountSID) {
		l.problem(l.where(path+".account_sid"),
			"is not an account SID of Twilio, which is AC and 32 hexadecimal digits")
	}
	if t.KeySID != "" && t.APIURL == "" && !twilioKey.MatchString(t.KeySID) {
		l.problem(l.where(path+".key_sid"), "is not a key SID of Twilio, which is SK and 32 hexadecimal digits")
	}
	if t.KeySID == "" {
		l.required(path+".auth_token", t.AuthToken.Reveal())
	}
	if (t.KeySID == "") != (t.KeySecret == "") {
		l.problem(l.where(path+".key_sid"), "key_sid and key_secret go together: set both or neither")
	}
	l.required(path+".from", t.From)
}

func (l *loader) webhook(path string, w *Webhook, n int) {
	l.apply(path, w)
	l.account(path, &w.Account, n, 10*time.Second)
	if len(w.Secrets) == 0 && !l.broken[path+".secrets[0]"] {
		l.problem(l.where(path+".secrets[0]"),
			"is missing; set one (whsec_ and the output of: openssl rand -base64 32)")
	}
	for i, s := range w.Secrets {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), "whsec_"))
		if err != nil || len(raw) < 24 || len(raw) > 64 || !strings.HasPrefix(s.Reveal(), "whsec_") {
			l.problem(l.where(index(path+".secrets", i)),
				"must be whsec_ followed by 24 to 64 bytes in base64 (whsec_ and the output of: openssl rand -base64 32)")
		}
	}
	if w.AllowHTTP {
		l.warning(l.where(path+".allow_http"),
			"webhooks contain a link that acknowledges the incident; without TLS others can read it")
	}
}

func (l *loader) push(path string, p *Push, n int) {
	l.apply(path, p)
	l.account(path, &p.Account, n, 10*time.Second)
	if l.required(path+".credentials", p.Credentials.Reveal()) {
		var account struct {
			Type      string `json:"type"`
			ProjectID string `json:"project_id"`
		}
		if json.Unmarshal([]byte(p.Credentials.Reveal()), &account) != nil || account.Type != "service_account" || account.ProjectID == "" {
			l.problem(l.where(path+".credentials"),
				"must be the JSON of a service account from the Firebase console (set its path with credentials_file or IRIS_PUSH_CREDENTIALS_FILE)")
		}
	}
}

// account fills in the defaults of the settings that all vendors share; n is the position in the list.
func (l *loader) account(path string, a *Account, n int, timeout time.Duration) {
	if a.Account == "" {
		a.Account = "main"
		if n > 0 {
			a.Account = strconv.Itoa(n + 1)
		}
	}
	if strings.ContainsAny(a.Account, "/ \t") {
		l.problem(l.where(path+".account"), "must not contain spaces or slashes")
	}
	if a.Timeout > 2*time.Minute {
		l.problem(l.where(path+".timeout"), "must be at most 2m")
	}
	if a.Timeout == 0 {
		a.Timeout = timeout
	}
	if a.Spare && n == 0 {
		l.warning(l.where(path+".spare"), "the first account should not be a spare account")
	}
}

// accounts returns "vendor/account" of all accounts, and reports names that are used twice.
func (l *loader) accounts(p Processor) []string {
	var all []string
	p.EachAccount(func(kind string, i int, a Account) {
		name := kind + "/" + a.Account
		if slices.Contains(all, name) {
			l.problem(l.where(index(kind, i)+".account"), "%q is used twice; give each account of %s another name",
				a.Account, kind)
		}
		all = append(all, name)
	})
	return all
}

// EachAccount calls f with the kind, the position in its list and the settings of each vendor account.
func (p Processor) EachAccount(f func(kind string, i int, a Account)) {
	each(p.SMTP, "smtp", f)
	each(p.Slack, "slack", f)
	each(p.Twilio, "twilio", f)
	each(p.Webhook, "webhook", f)
	each(p.Push, "push", f)
}

func each[V interface{ shared() Account }](list []V, kind string, f func(kind string, i int, a Account)) {
	for i, v := range list {
		f(kind, i, v.shared())
	}
}

func (a Account) shared() Account { return a }

var modes = []string{"email", "sms", "call", "slack", "push", "webhook", "drop"}
