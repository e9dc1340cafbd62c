package smtp_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/smtp"
)

func mail(id messages.ID) messages.Outbound {
	return messages.Outbound{MessageID: id, Attempt: 1, Mode: users.Email, Destination: "ann@example.com",
		Subject: "s", Body: "b"}
}

// certificates returns the TLS configuration of a server on 127.0.0.1, and of a client that trusts its certificate.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw},
		PrivateKey: key}}}, &tls.Config{RootCAs: roots}
}

func TestTLSAndLogIn(t *testing.T) {
	t.Parallel()
	server, trusting := certificates(t)
	strict := &tls.Config{RootCAs: x509.NewCertPool()}
	logIn := func(mechanisms ...string) pretend.SMTPConfig {
		return pretend.SMTPConfig{Username: "iris", Password: "secret-password", Mechanisms: mechanisms, TLS: server}
	}
	with := func(mode smtp.TLSMode, cfg *tls.Config, password string, plain bool) smtp.Config {
		c := smtp.Config{TLS: mode, TLSConfig: cfg, AllowPlainAuth: plain}
		if password != "" {
			c.Username, c.Password = "iris", password
		}
		return c
	}
	implicit := logIn()
	implicit.Implicit = true
	bare := logIn()
	bare.TLS = nil
	cram := logIn("CRAM-MD5")
	cram.TLS = nil
	for name, c := range map[string]struct {
		server pretend.SMTPConfig
		client smtp.Config
		want   messages.Outcome
		says   string
	}{
		"starttls": {logIn(), with(smtp.StartTLS, trusting, "secret-password", false),
			messages.OutcomeSent, ""},
		"starttls is the default": {logIn(), with("", trusting, "secret-password", false), messages.OutcomeSent,
			""},
		"PLAIN": {logIn("PLAIN"), with("", trusting, "secret-password", false),
			messages.OutcomeSent, ""},
		"LOGIN": {logIn("LOGIN"), with("", trusting, "secret-password", false),
			messages.OutcomeSent, ""},
		"CRAM-MD5": {logIn("CRAM-MD5"), with("", trusting, "secret-password", false),
			messages.OutcomeSent, ""},
		"implicit": {implicit, with(smtp.Implicit, trusting, "secret-password", false),
			messages.OutcomeSent, ""},
		"opportunistic": {pretend.SMTPConfig{TLS: server}, with("", strict, "", false),
			messages.OutcomeSent, ""},
		"opportunistic, verified": {logIn(), with(smtp.Opportunistic, trusting, "secret-password", false),
			messages.OutcomeSent, ""},
		"CRAM-MD5 without TLS": {cram, with(smtp.None, nil, "secret-password", true), messages.OutcomeSent, ""},
		"wrong password": {logIn(), with("", trusting, "wrong-password", false),
			messages.OutcomeUnavailable, "log-in"},
		"wrong password by LOGIN": {logIn("LOGIN"), with("", trusting, "wrong-password", false),
			messages.OutcomeUnavailable, "log-in"},
		"wrong password by CRAM-MD5": {logIn("CRAM-MD5"), with("", trusting, "wrong-password", false),
			messages.OutcomeUnavailable, "log-in"},
		"no password": {logIn(), with("", trusting, "", false), messages.OutcomeUnavailable,
			"Authentication required"},
		"unknown mechanism": {logIn("XOAUTH2"), with("", trusting, "secret-password", false),
			messages.OutcomeUnavailable, "offers none"},
		"bad certificate": {logIn(), with(smtp.StartTLS, strict, "secret-password", false),
			messages.OutcomeUnavailable, "TLS"},
		"bad certificate, implicit": {implicit, with(smtp.Implicit, strict, "secret-password", false),
			messages.OutcomeUnavailable, "TLS"},
		"starttls not offered": {bare, with(smtp.StartTLS, trusting, "secret-password", false),
			messages.OutcomeUnavailable, "STARTTLS"},
		"no log-in without TLS": {bare, with(smtp.Opportunistic, trusting, "secret-password", false),
			messages.OutcomeUnavailable, "no log-in"},
		"no log-in to an impostor": {logIn(), with(smtp.Opportunistic, strict, "secret-password", false),
			messages.OutcomeUnavailable, "no log-in"},
		"log-in allowed in plain text": {bare, with(smtp.None, nil, "secret-password", true), messages.OutcomeSent, ""},
		"TLS to a plain server": {bare, with(smtp.Implicit, trusting, "secret-password", false),
			messages.OutcomeUnavailable, "TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, p := pair(t, c.server, c.client)
			r := v.Send(t.Context(), mail(1))
			require.Equal(t, c.want, r.Outcome, r.Detail)
			require.Contains(t, r.Detail, c.says)
			require.NotContains(t, r.Detail, "-password")
			require.Len(t, p.Log().Accepted(), map[bool]int{true: 1}[c.want == messages.OutcomeSent])
		})
	}
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{}, smtp.Config{MaxConns: 4})
	for range 20 {
		require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), mail(1)).Outcome)
	}
	require.Equal(t, int64(1), p.Connections())
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() { v.Send(t.Context(), mail(1)) })
	}
	wg.Wait()
	require.LessOrEqual(t, p.Connections(), int64(4))
	require.Len(t, p.Log().Accepted(), 220)
	// A refused message does not close its connection.
	p.Behave(pretend.Behaviour{Do: pretend.Reject, Times: 10})
	for range 20 {
		v.Send(t.Context(), mail(1))
	}
	require.LessOrEqual(t, p.Connections(), int64(4))
}

func TestConnectionsEndAtTheirLimits(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{}, smtp.Config{MaxPerConn: 5})
	for range 20 {
		require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), mail(1)).Outcome)
	}
	require.Equal(t, int64(4), p.Connections())

	v, p = pair(t, pretend.SMTPConfig{}, smtp.Config{IdleTimeout: 20 * time.Millisecond})
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), mail(1)).Outcome)
	require.Eventually(t, func() bool {
		before := p.Connections()
		require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), mail(1)).Outcome)
		wait(t, 30*time.Millisecond)
		return p.Connections() > before
	}, 5*time.Second, time.Millisecond)
	v.Close()
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), mail(1)).Outcome, "what comes after Close is still sent")
}

func wait(t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// A restart of the server fails no message, because the dead connections accepted no part of one.
func TestServerRestartFailsNoMessage(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{}, smtp.Config{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { v.Send(t.Context(), mail(1)) })
	}
	wg.Wait()
	p.Close()
	again := pretend.NewSMTP(pretend.SMTPConfig{Addr: p.Addr()}, nil)
	require.NoError(t, again.Start())
	defer again.Close()
	for i := range 20 {
		r := v.Send(t.Context(), mail(messages.ID(i+1)))
		require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
	}
	require.Len(t, again.Log().Accepted(), 20)
}

func TestRefusedConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{}, smtp.Config{})
	p.Close()
	r := v.Send(t.Context(), mail(1))
	require.Equal(t, messages.OutcomeUnavailable, r.Outcome)
	require.Contains(t, r.Detail, "connect")
}

func TestWaitForAFreeConnectionEndsWithTheContext(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{}, smtp.Config{MaxConns: 1, Timeout: 5 * time.Second})
	p.Behave(pretend.Behaviour{Do: pretend.Hang})
	hanging, stop := context.WithCancel(t.Context())
	defer stop()
	go v.Send(hanging, mail(1))
	enough, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.NoError(t, p.Log().Wait(enough, func(all []pretend.Entry) bool { return len(all) == 1 }))
	ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	r := v.Send(ctx, mail(2))
	require.Equal(t, messages.OutcomeUnavailable, r.Outcome)
	require.Contains(t, r.Detail, "free")
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{From: []string{"iris@example.com"}}, smtp.Config{})
	m := messages.Outbound{
		MessageID: 4711, Attempt: 1, Destination: "Ann Lopes <ann@example.com>", Subject: "4711 Plätze frei: " +
			strings.Repeat("lang ", 40), Body: "Zeile 1\nZeile 2 äöü\n.\n..",
		EmailHTML: "<p>äöü</p>", Application: "demo", Plan: "demo-plan", Priority: users.High, IncidentID: 17, ThreadKey: "17/ann", IdempotencyKey: "k1",
	}
	send := func(m messages.Outbound) pretend.Entry {
		r := v.Send(t.Context(), m)
		require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
		all := p.Log().Entries()
		require.Equal(t, all[len(all)-1].VendorID, r.VendorMessageID)
		return all[len(all)-1]
	}
	e := send(m)
	require.Equal(t, "ann@example.com", e.To)
	require.Equal(t, strings.TrimSpace(m.Subject), e.Subject)
	require.Equal(t, m.Body, strings.TrimSuffix(e.Body, "\n"))
	require.Equal(t, m.EmailHTML, strings.TrimSuffix(e.HTML, "\n"))
	for name, want := range map[string]string{
		"X-Iris-Application": "demo", "X-Iris-Plan": "demo-plan", "X-Iris-Priority": "high", "X-Iris-Incident-Id": "17", "X-Iris-Message-Id": "4711",
		"Auto-Submitted": "auto-generated", "Mime-Version": "1.0", "From": `"Iris" <iris@example.com>`,
	} {
		require.Equal(t, want, e.Headers[name], name)
	}
	require.Contains(t, e.Headers["Content-Type"], "multipart/alternative")
	for _, absent := range []string{"User-Agent", "X-Mailer", "Sender", "Reply-To", "Bcc"} {
		require.NotContains(t, e.Headers, absent)
	}
	root := e.Headers["References"]
	require.Regexp(t, `^<thread\.[0-9a-f]{20}@example\.com>$`, root)
	require.Equal(t, root, e.Headers["In-Reply-To"])
	first := e.VendorID
	require.Regexp(t, `^iris\.4711\.[0-9a-f]{20}@example\.com$`, first)

	m.Attempt = 2
	require.Equal(t, first, send(m).VendorID, "the same while it is in doubt")
	m.IdempotencyKey = "k2"
	e = send(m)
	require.NotEqual(t, first, e.VendorID)
	require.Equal(t, root, e.Headers["References"], "the same conversation")
	m.ThreadKey = "18/ann"
	require.NotEqual(t, root, send(m).Headers["References"])

	m.EmailHTML = ""
	require.Contains(t, send(m).Headers["Content-Type"], "text/plain")
}

func TestCustomSender(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{From: []string{"iris@example.com"}}, smtp.Config{})
	m := mail(1)
	send := func() map[string]string {
		r := v.Send(t.Context(), m)
		require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
		all := p.Log().Entries()
		return all[len(all)-1].Headers
	}
	m.Sender = "Ops <ops@example.org>"
	h := send()
	require.Equal(t, `"Ops" <ops@example.org>`, h["From"])
	require.Equal(t, "<iris@example.com>", h["Sender"], "the envelope stays ours, and it says so")
	require.Equal(t, `"Ops" <ops@example.org>`, h["Reply-To"])
	m.Sender = "not an address\r\nBcc: x@example.org"
	h = send()
	require.Equal(t, `"Iris" <iris@example.com>`, h["From"], "a bad sender keeps no page back")

	v, p = pair(t, pretend.SMTPConfig{}, smtp.Config{ReplyTo: "answers@example.com"})
	m.Sender = ""
	require.Equal(t, "<answers@example.com>", send()["Reply-To"])
	m.ReplyTo = "tracker@example.org"
	require.Equal(t, "<tracker@example.org>", send()["Reply-To"], "a message's own wins")
}

func TestNonASCIIAddresses(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{}, smtp.Config{})
	m := mail(1)
	m.Destination = "jürg@münchen.example"
	r := v.Send(t.Context(), m)
	require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
	require.Equal(t, "jürg@xn--mnchen-3ya.example", p.Log().Entries()[0].To)

	v, p = pair(t, pretend.SMTPConfig{ASCIIOnly: true}, smtp.Config{})
	r = v.Send(t.Context(), m)
	require.Equal(t, messages.OutcomeRejected, r.Outcome)
	require.Contains(t, r.Detail, "ASCII")
	m.Destination = "juerg@münchen.example"
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), m).Outcome)
	require.Len(t, p.Log().Accepted(), 1)
}

func TestTooLargeMessageIsRejected(t *testing.T) {
	t.Parallel()
	v, p := pair(t, pretend.SMTPConfig{MaxSize: 2000}, smtp.Config{})
	m := mail(1)
	m.Body = strings.Repeat("long ", 1000)
	r := v.Send(t.Context(), m)
	require.Equal(t, messages.OutcomeRejected, r.Outcome)
	require.Contains(t, r.Detail, "larger")
	require.Zero(t, p.Log().Last(), "the server told its limit")
	require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), mail(2)).Outcome)
}

func TestNewRejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	good := smtp.Config{Addr: "mail.example.com:25", From: "iris@example.com"}
	for field, change := range map[string]func(*smtp.Config){
		"addr":     func(c *smtp.Config) { c.Addr = "" },
		"from":     func(c *smtp.Config) { c.From = "Iris" },
		"reply_to": func(c *smtp.Config) { c.ReplyTo = "x" },
		"tls":      func(c *smtp.Config) { c.TLS = "ssl" },
		"hello":    func(c *smtp.Config) { c.Hello = "a b" },
	} {
		cfg := good
		change(&cfg)
		_, err := smtp.New(cfg)
		var f *fault.Error
		require.ErrorAs(t, err, &f, field)
		require.Equal(t, field, f.Field)
	}
	_, err := smtp.New(smtp.Config{Addr: "x", From: "iris@example.com", Username: "u", Password: "p", TLS: smtp.None})
	require.True(t, fault.Is(err, fault.Invalid))
	for _, addr := range []string{"mail.example.com", "[::1]", "::1", "192.0.2.1"} {
		_, err := smtp.New(smtp.Config{Addr: addr, From: "iris@example.com"})
		require.NoError(t, err, addr)
	}
}
