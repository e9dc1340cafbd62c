package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/freeport"
)

// TestMain lets the test binary run as the process of the sink.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == sinkCommand {
		if err := RunSink(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// pager is a fake Iris: it answers posts and sends mails, with exceptions for the tests.
type pager struct {
	sink   string
	ids    atomic.Int64
	wg     sync.WaitGroup
	failed atomic.Int64
}

func (p *pager) mail(headers ...string) {
	text := strings.Join(headers, "\r\n") + "\r\n\r\nhello\r\n"
	if err := smtp.SendMail(p.sink, nil, "iris@bench.invalid", []string{"x@bench.invalid"}, []byte(text)); err != nil {
		p.failed.Add(1)
	}
}

func (p *pager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := p.ids.Add(1)
	var body struct{ Subject, Plan string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || !strings.HasPrefix(r.Header.Get("Authorization"), "hmac a:") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	number := fmt.Sprintf("X-IRIS-MESSAGE-ID: %d", 5000+id)
	p.wg.Go(func() {
		switch {
		case r.URL.Path == "/v0/notifications":
			p.mail("Subject: [a] "+body.Subject, number)
		case id == 3: // this mail is lost
		case id == 4:
			p.mail("Subject: x", number, fmt.Sprintf("X-IRIS-INCIDENT-ID: %d", id))
			p.mail("Subject: x", number, fmt.Sprintf("X-IRIS-INCIDENT-ID: %d", id))
		default:
			p.mail("Subject: x", number, fmt.Sprintf("X-IRIS-INCIDENT-ID: %d", id))
		}
	})
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, id)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	require.NoError(t, err)
	return addr
}

func TestRunAgainstARunningServer(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"burst":         {Burst: 60, Plan: "p"},
		"rate":          {Rate: 300, For: 200 * time.Millisecond, Plan: "p"},
		"notifications": {Notifications: 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pager{sink: freeAddress(t)}
			s := httptest.NewServer(p)
			defer s.Close()
			defer p.wg.Wait()
			var out strings.Builder
			o.URL, o.App, o.Key, o.Sink, o.Out = s.URL, "a", "k", p.sink, &out
			o.Environ, o.Connections, o.Patience = os.Environ(), 4, 3*time.Second
			r, err := Run(t.Context(), o)
			require.NoError(t, err)
			require.Zero(t, p.failed.Load())
			require.Equal(t, 60, r.Posted)
			require.Equal(t, 60, r.Accepted)
			require.Positive(t, r.Latency.Max)
			require.Positive(t, r.DeliveriesPerSecond)
			require.Nil(t, r.ReownedSeconds)
			require.Contains(t, out.String(), "posted 60 of 60")
			if name == "notifications" {
				require.Zero(t, r.Lost+r.Duplicates)
				return
			}
			require.Equal(t, []int64{3}, r.LostIDs)
			require.Equal(t, 1, r.Duplicates)
		})
	}
}

func TestRunReportsWhatItCouldNotStart(t *testing.T) {
	t.Parallel()
	o := Options{Burst: 1, URL: "http://127.0.0.1:1", App: "a", Key: "k", Plan: "p", Sink: "203.0.113.1:25",
		Environ: os.Environ()}
	_, err := Run(t.Context(), o)
	require.ErrorContains(t, err, "the sink did not start")
	o.Program = "/does/not/exist"
	_, err = Run(t.Context(), o)
	require.ErrorContains(t, err, "/does/not/exist")

	// An unreachable server is counted, not returned as an error: the request has no answer.
	o.Program, o.Sink = "", freeAddress(t)
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 1, r.Unanswered)
	require.Zero(t, r.Accepted)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Sink = freeAddress(t)
	_, err = Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
}
