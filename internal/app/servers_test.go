package app

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/database"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
)

const patience = 20 * time.Second

func common(url string) config.Common {
	return config.Common{
		Database: config.Database{URL: config.Secret(url), MaxConnections: 8}, PublicURL: "http://127.0.0.1:1",
		Admin: config.Admin{Addr: "127.0.0.1:0"}, Migrate: "never", ShutdownTimeout: 5 * time.Second,
	}
}

func testLog(t *testing.T) *zap.Logger {
	return zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel))
}

// runAPI runs an iris-api until the test ends or stop is called; stop returns what Run did.
func runAPI(t *testing.T, c config.Common, log *zap.Logger) (base string, stop func() error) {
	t.Helper()
	a, err := NewAPI(config.API{Common: c, HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour}}, Deps{Log: log})
	require.NoError(t, err)
	return "http://" + a.Addr(), background(t, a.Run)
}

func runProcessor(t *testing.T, c config.Common, log *zap.Logger) (base string, stop func() error) {
	t.Helper()
	p, err := NewProcessor(config.Processor{Common: c, Gossip: config.Gossip{Addr: "127.0.0.1:0"}}, Deps{Log: log})
	require.NoError(t, err)
	return "http://" + p.AdminAddr(), background(t, p.Run)
}

// background runs a server until stop is called, which returns what the server did.
func background(t testing.TB, run func(context.Context) error) func() error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = run(ctx)
	}()
	stop := func() error {
		cancel()
		<-ended
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

func get(t testing.TB, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func eventually(t *testing.T, url string, status int, text string) {
	t.Helper()
	var got int
	var body string
	require.Eventually(t, func() bool {
		got, body = get(t, url)
		return got == status && strings.Contains(body, text)
	}, patience, 20*time.Millisecond, "wanted %d with %q from %s", status, text, url)
}

// An API on an empty database says what is missing at every stage, and is ready when an incident would be paged.
func TestReadinessFromNothing(t *testing.T) {
	t.Parallel()
	c := common(pgtest.EmptyURL(t))
	a, err := NewAPI(config.API{Common: c, HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour}}, Deps{Log: testLog(t)})
	require.NoError(t, err)
	api, stopAPI := "http://"+a.Addr(), background(t, a.Run)
	processor, stopProcessor := runProcessor(t, c, testLog(t))
	for _, base := range []string{api, processor} {
		eventually(t, base+"/readyz", http.StatusServiceUnavailable, "run: iris migrate")
		eventually(t, base+"/livez", http.StatusOK, "ok")
	}
	status, body := get(t, api+"/v0/incidents")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "waiting for its database")
	status, _ = get(t, "http://"+a.admin.Addr().String()+"/metrics")
	require.Equal(t, http.StatusOK, status)
	status, _ = get(t, api+"/metrics")
	require.Equal(t, http.StatusServiceUnavailable, status, "metrics are for operators, at the admin listener")

	require.NoError(t, database.Migrate(t.Context(), c, zap.NewNop()))
	eventually(t, processor+"/readyz", http.StatusOK, `"ready": true`)
	eventually(t, api+"/readyz", http.StatusOK, `"ready": true`)
	status, _ = get(t, api+"/v0/incidents")
	require.Equal(t, http.StatusUnauthorized, status)
	eventually(t, api+"/login", http.StatusOK, "Log in")
	eventually(t, api+"/healthcheck", http.StatusOK, "GOOD")
	status, _ = get(t, api+"/metrics")
	require.Equal(t, http.StatusNotFound, status)
	status, body = get(t, api+"/nowhere")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, "not found")

	require.NoError(t, stopProcessor())
	eventually(t, api+"/readyz", http.StatusServiceUnavailable, "no message-processor is alive")
	eventually(t, api+"/livez", http.StatusOK, "ok")
	require.NoError(t, stopAPI())
}

func TestMigrateAuto(t *testing.T) {
	t.Parallel()
	c := common(pgtest.EmptyURL(t))
	c.Migrate = "auto"
	c.SecretKey = "a key of the operator with 32 characters"
	api, _ := runAPI(t, c, testLog(t))
	eventually(t, api+"/readyz", http.StatusServiceUnavailable, "no message-processor is alive")

	// Whoever comes later needs the key that the secret was wrapped with, and waiting for it is of no use.
	c.SecretKey = ""
	p, err := NewProcessor(config.Processor{Common: c, Gossip: config.Gossip{Addr: "off"}}, Deps{Log: testLog(t)})
	require.NoError(t, err)
	require.ErrorContains(t, p.Run(t.Context()), "IRIS_SECRET_KEY")
}

func TestUnreachableDatabaseIsSaidOnceAndNotSpunOn(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.WarnLevel)
	c := common("postgres://iris@127.0.0.1:1/iris?sslmode=disable")
	api, stop := runAPI(t, c, zap.New(core))
	eventually(t, api+"/readyz", http.StatusServiceUnavailable, "the database cannot be reached")
	asked := time.Now()
	require.Eventually(t, func() bool { return time.Since(asked) > 2500*time.Millisecond }, patience, 50*time.Millisecond)
	said := logs.FilterMessage("not ready").FilterFieldKey("reason").All()
	require.LessOrEqual(t, len(said), 2, "starting, and the database")
	require.NoError(t, stop())
}

func TestMailboxIsPassedOn(t *testing.T) {
	t.Parallel()
	box := http.NewServeMux()
	box.HandleFunc("GET /dev/mailbox.json", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode([]string{"letter"}) })
	boxServer := httptest.NewServer(box)
	defer boxServer.Close()
	a, err := NewAPI(config.API{
		Common: common("postgres://iris@127.0.0.1:1/iris?sslmode=disable"), HTTP: config.HTTP{Addr: "127.0.0.1:0", MailboxURL: boxServer.URL},
	}, Deps{Log: zap.NewNop()})
	require.NoError(t, err)
	background(t, a.Run)
	status, body := get(t, "http://"+a.Addr()+"/dev/mailbox.json")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `["letter"]`, body)
}

func TestTheCollectorIsRelaxedUnlessTheOperatorSaysOtherwise(t *testing.T) {
	t.Parallel()
	percent := 0
	set := func(n int) int { percent = n; return 100 }
	RelaxCollector([]string{"GOGC=50"}, set)
	require.Zero(t, percent)
	RelaxCollector([]string{"GOGCX=50", "GOMEMLIMIT=1GiB"}, set)
	require.Equal(t, collectorPercent, percent)
}

// A caller who reads nothing of an answer is cut off: the handler's write fails instead of waiting for ever.
func TestAnAnswerThatNobodyReadsIsCutOff(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	s, err := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		part := make([]byte, 1<<20)
		for {
			if _, err := w.Write(part); err != nil {
				failed <- err
				return
			}
		}
	}), zap.NewNop())
	require.NoError(t, err)
	require.Positive(t, s.WriteTimeout)
	require.LessOrEqual(t, s.WriteTimeout, 2*time.Minute)
	s.WriteTimeout = 100 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	select {
	case err := <-failed:
		require.Error(t, err)
	case <-time.After(patience):
		require.FailNow(t, "the write goes on")
	}
}
