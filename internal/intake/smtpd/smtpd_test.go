package smtpd_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/smtpd"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// world has the integrations with the tokens "mail", "off" (switched off), "hook" (of another type) and "busy" (above
// its rate).
type world struct {
	auth.Applications
	mu     sync.Mutex
	lost   error // of the database
	refuse error // of events
	events []intake.Event
	notes  []string
	full   error // of the room for bodies
	taken  int   // bytes of room
	held   int   // bytes of room while the last event was received

	metrics *prometheus.Registry
}

// outcome returns how often an outcome was counted.
func (w *world) outcome(t *testing.T, name string) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "iris_smtpd_mails_total" && m.GetLabel()[0].GetValue() == name {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func (w *world) room(_ context.Context, size int) (func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full != nil {
		return nil, w.full
	}
	w.taken += size
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.taken -= size
	}, nil
}

func (w *world) ByToken(_ context.Context, token string) (intake.Integration, int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost != nil {
		return intake.Integration{}, 0, w.lost
	}
	types := map[string]string{"mail": "email", "off": "email", "hook": "generic", "busy": "email"}
	i := intake.Integration{ID: 1, Application: "demo", Content: intake.Content{Name: token, Type: types[token],
		Enabled: token != "off"}}
	if i.Type == "" {
		return i, 0, fault.New(fault.NotFound, "no integration has this token")
	}
	return i, 7, nil
}

func (w *world) Receive(_ context.Context, _ auth.Application, _ intake.Integration, e intake.Event, _ time.Time) (receiving.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return receiving.Result{}, w.refuse
	}
	w.events, w.held = append(w.events, e), w.taken
	return receiving.Result{ID: 42, Outcome: receiving.Opened}, nil
}

func (w *world) Allow(_ context.Context, from intake.Integration, _ time.Time) error {
	if from.Name == "busy" {
		return fault.New(fault.Throttled, "too many")
	}
	return nil
}

func (w *world) Note(from intake.Integration, token int64, p intake.Payload, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, fmt.Sprint(from.Name, " ", token, " ", p.Outcome, err))
	if strings.Contains(p.Body, "mail@") {
		w.notes = append(w.notes, "the token is in the payload")
	}
}

type apps struct{ auth.Applications }

func (apps) ByName(context.Context, string) (auth.Application, error) { return auth.Application{}, nil }

func start(t *testing.T, w *world, cfg smtpd.Config) *smtpd.Server {
	t.Helper()
	cfg.Addr = "127.0.0.1:0"
	if cfg.PerMinute == 0 {
		cfg.PerMinute = 1000
	}
	if cfg.MaxSize == 0 {
		cfg.MaxSize = 10_000
	}
	w.metrics = prometheus.NewRegistry()
	s, err := smtpd.New(cfg, smtpd.Deps{Integrations: w, Applications: apps{}, Receiver: w, Activity: w,
		Decode: sources.Email(recipes.Builtin()), Room: w.room, Log: zap.NewNop(),
		Registerer: w.metrics})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return s
}

func dial(t *testing.T, s *smtpd.Server) *smtp.Client {
	t.Helper()
	c, err := smtp.Dial(s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// code returns the code of an answer; 250 = success.
func code(err error) int {
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return answer.Code
	}
	if err != nil {
		return -1
	}
	return 250
}

// send sends a mail and returns the first code that is no success, and its text.
func send(c *smtp.Client, from, to, body string) (int, string) {
	err := c.Mail(from)
	for _, one := range strings.Split(to, ",") {
		if err == nil {
			err = c.Rcpt(one)
		}
	}
	if err == nil {
		w, derr := c.Data()
		if derr == nil {
			_, _ = w.Write([]byte(strings.ReplaceAll(body, "\n", "\r\n")))
			derr = w.Close()
		}
		err = derr
	}
	_ = c.Reset()
	return code(err), fmt.Sprint(err)
}

const alert = "From: mon@example.com\nTo: mail@iris.example.com\nSubject: Disk full\n\n/var is full\n"

func TestMailsAndTheirAnswers(t *testing.T) {
	t.Parallel()
	w := &world{}
	s := start(t, w, smtpd.Config{Domain: "iris.example.com"})
	for name, c := range map[string]struct {
		from, to, body string
		code           int
		key            string
	}{
		"accepted":           {"mon@example.com", "mail@iris.example.com", alert, 250, "disk full"},
		"with a key":         {"mon@example.com", "mail+job-17@iris.example.com", alert, 250, "job-17"},
		"in capitals":        {"mon@example.com", "MAIL@IRIS.example.com", alert, 250, "disk full"},
		"unknown recipient":  {"mon@example.com", "nobody@iris.example.com", alert, 550, ""},
		"of another type":    {"mon@example.com", "hook@iris.example.com", alert, 550, ""},
		"switched off":       {"mon@example.com", "off@iris.example.com", alert, 550, ""},
		"to another domain":  {"mon@example.com", "mail@example.com", alert, 550, ""},
		"above its rate":     {"mon@example.com", "busy@iris.example.com", alert, 452, ""},
		"with a null sender": {"", "mail@iris.example.com", "Return-Path: <>\n" + alert, 250, "disk full"},
		"a bounce": {"", "mail@iris.example.com",
			"Content-Type: multipart/report; report-type=delivery-status; boundary=x\n" + alert, 554, ""},
		"of one long line": {"mon@example.com", "mail@iris.example.com", alert + strings.Repeat("x", 9_000), 250,
			"disk full"},
		"an automatic answer": {"mon@example.com", "mail@iris.example.com", "Auto-Submitted: auto-replied\n" + alert,
			554, ""},
		"our own": {"mon@example.com", "mail@iris.example.com", "X-Iris-Message-Id: 1\n" + alert, 554, ""},
		"no mail": {"mon@example.com", "mail@iris.example.com", "no header", 554, ""},
		"too large": {"mon@example.com", "mail@iris.example.com", alert + strings.Repeat("x\n", 10_000), 552,
			""},
	} {
		w.mu.Lock()
		w.events = nil
		w.mu.Unlock()
		got, text := send(dial(t, s), c.from, c.to, c.body)
		require.Equal(t, c.code, got, "%s: %s", name, text)
		w.mu.Lock()
		require.Len(t, w.events, map[bool]int{true: 1}[c.key != ""], name)
		if c.key != "" {
			require.Equal(t, c.key, w.events[0].Key, name)
		}
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Contains(t, w.notes, "mail 7 opened incident 42<nil>")
	require.NotContains(t, w.notes, "the token is in the payload")
}

func TestAMailTakesRoomOfTheBodiesInWork(t *testing.T) {
	t.Parallel()
	w := &world{full: fault.New(fault.Unavailable, "no room")}
	c := dial(t, start(t, w, smtpd.Config{}))
	got, text := send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 451, got, text)
	require.Contains(t, text, "send it again later")
	require.InDelta(t, 1, w.outcome(t, "later"), 0)
	w.mu.Lock()
	require.Empty(t, w.events)
	require.Len(t, w.notes, 1)
	require.Contains(t, w.notes[0], "no room", "the integration shows it")
	w.full = nil
	w.mu.Unlock()
	got, text = send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 250, got, text)
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Len(t, w.events, 1)
	require.Zero(t, w.taken, "the room is given back")
	require.Positive(t, w.held, "room is held while the mail is carried out")
}

func TestNothingIsAcceptedThatIsNotDurable(t *testing.T) {
	t.Parallel()
	w := &world{lost: fault.New(fault.Unavailable, "away")}
	s := start(t, w, smtpd.Config{})
	c := dial(t, s)
	got, text := send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 451, got, text)
	require.NotContains(t, text, "away", "the reason is in the log")
	w.mu.Lock()
	w.lost, w.refuse = nil, fault.New(fault.Unavailable, "away")
	w.mu.Unlock()
	got, text = send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 451, got, text)
	w.mu.Lock()
	w.refuse = fault.New(fault.NotFound, "no plan can take this event")
	w.mu.Unlock()
	got, text = send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 554, got, text)
	require.Contains(t, text, "no plan can take this event")
	w.mu.Lock()
	w.refuse = nil
	w.mu.Unlock()
	got, _ = send(c, "a@b.example", "mail@x,mail+2@x", alert)
	require.Equal(t, 250, got)
	require.Len(t, w.events, 2)
}

func TestAddressesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	s := start(t, &world{}, smtpd.Config{})
	c := dial(t, s)
	require.NoError(t, c.Mail("a@b.example"))
	var codes []int
	for k := range 5 {
		codes = append(codes, code(c.Rcpt(fmt.Sprintf("guess%d@x", k))))
	}
	require.Equal(t, []int{550, 550, 550, 550, 421}, codes)
	require.Eventually(t, func() bool { return c.Noop() != nil }, 10*time.Second, 50*time.Millisecond,
		"the connection is closed")
}

func TestThePeerHasARateAndConnections(t *testing.T) {
	t.Parallel()
	s := start(t, &world{}, smtpd.Config{PerMinute: 4})
	c := dial(t, s)
	var codes []int
	for range 3 {
		got, _ := send(c, "a@b.example", "mail@x", alert)
		codes = append(codes, got)
	}
	require.Equal(t, []int{250, 250, 451}, codes, "half of a minute's mails may come at once")
	for range 40 {
		conn, err := net.Dial("tcp", s.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
	}
	_, err := smtp.Dial(s.Addr())
	require.Equal(t, 421, code(err), "the limit holds before the greeting")
}

func TestSilentConnectionsOfOnePeerBlockNobodyElse(t *testing.T) {
	t.Parallel()
	s := start(t, &world{}, smtpd.Config{})
	greetings := map[string]int{}
	for range 230 {
		conn, err := net.Dial("tcp", s.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		line, err := textproto.NewConn(conn).ReadLine()
		require.NoError(t, err)
		greetings[line[:3]]++
	}
	require.Equal(t, map[string]int{"220": 30, "421": 200}, greetings)
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	conn, err := other.Dial("tcp", s.Addr())
	require.NoError(t, err)
	c, err := smtp.NewClient(conn, "localhost")
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	got, text := send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 250, got, text)
}

func TestConnectionsEndThatDoNotBegin(t *testing.T) {
	t.Parallel()
	s := start(t, &world{}, smtpd.Config{Greeting: 50 * time.Millisecond})
	for name, sent := range map[string]string{"silence": "", "commands without EHLO": "NOOP\r\nVRFY x\r\n", "half a command": "EHL"} {
		conn, err := net.Dial("tcp", s.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = conn.Write([]byte(sent))
		require.NoError(t, err)
		answers, err := io.ReadAll(conn) // returns when the server closes
		require.NoError(t, err, name)
		require.Contains(t, string(answers), "421 4.4.2", name)
	}
	c := dial(t, s)
	got, text := send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 250, got, text)
}

func TestCommandsAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t, &world{}, smtpd.Config{})
	c := dial(t, s)
	require.NoError(t, c.Hello("client"))
	require.NoError(t, c.Mail("a@b.example"))
	_ = c.Text.PrintfLine("RCPT TO:<%s@x>", strings.Repeat("x", 1<<20)) // an error if the server has closed already
	_, _, err := c.Text.ReadResponse(250)
	require.NotEqual(t, 250, code(err))
	require.Error(t, c.Noop(), "the connection is closed")
}

func TestRefusalsAreCountedAndShown(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x\n", 10_000)
	for name, c := range map[string]struct {
		from, to, body string
		outcome, note  string
	}{
		"too large": {"a@b.example", "mail@x", alert + large, "refused",
			"mail 7 the mail is larger than 10000 bytes (intake.smtp.max_size)"},
		"declared size": {"SIZE", "mail@x", alert, "refused",
			"mail 7 the mail is larger than 10000 bytes (intake.smtp.max_size)"},
		"switched off": {"a@b.example", "off@x", alert, "refused", "off 7 the integration off is switched off"},
		"another type": {"a@b.example", "hook@x", alert, "unknown",
			"hook 7 the integration hook has the type generic: it takes no mails"},
		"nobody":         {"a@b.example", "nobody@x", alert, "unknown", ""},
		"above its rate": {"a@b.example", "busy@x", alert, "later", "busy 7 too many"},
		"no mail": {"a@b.example", "mail@x", "no header", "refused",
			"mail 7 the body must be a mail: a header with From or Subject, an empty line and a text"},
		"recipients":     {"a@b.example", strings.TrimSuffix(strings.Repeat("mail@x,", 21), ","), alert, "later", ""},
		"protocol error": {"a@b.example", "nonsense with spaces", alert, "syntax", ""},
	} {
		w := &world{}
		s := start(t, w, smtpd.Config{})
		client := dial(t, s)
		if strings.Contains(c.from, "SIZE") {
			require.NoError(t, client.Hello("client"))
			id, err := client.Text.Cmd("MAIL FROM:<a@b.example> SIZE=10001")
			require.NoError(t, err)
			client.Text.StartResponse(id)
			_, _, err = client.Text.ReadResponse(250)
			client.Text.EndResponse(id)
			require.NoError(t, err)
			require.Equal(t, 552, code(client.Rcpt(c.to)))
		} else {
			got, _ := send(client, c.from, c.to, c.body)
			require.NotEqual(t, 250, got, name)
		}
		_ = client.Quit()
		require.Eventually(t, func() bool { return w.outcome(t, c.outcome) == 1 }, 10*time.Second, 10*time.Millisecond,
			name)
		w.mu.Lock()
		if c.note == "" {
			require.Empty(t, w.notes, name)
		} else {
			require.Equal(t, []string{c.note}, w.notes, name)
		}
		w.mu.Unlock()
	}
}

func TestSTARTTLSIsRequired(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	w := &world{}
	s := start(t, w, smtpd.Config{RequireTLS: true,
		TLS: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}},
			MinVersion: tls.VersionTLS12}})
	c := dial(t, s)
	got, _ := send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 530, got)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	require.NoError(t, c.StartTLS(&tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}))
	got, text := send(c, "a@b.example", "mail@x", alert)
	require.Equal(t, 250, got, text)
	require.NoError(t, c.Quit())
}
