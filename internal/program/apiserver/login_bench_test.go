package apiserver

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// BenchmarkLogins lets 200 people log in at the same time, each from their own address, while another client reads a
// page of the API. It reports when the last login was answered, how many logins were throttled, and the slowest of the
// other requests.
func BenchmarkLogins(b *testing.B) {
	const people = 200
	url := pgtest.URL(b)
	db := pgtest.Open(b, url, postgres.Config{})
	hash, err := auth.NewPasswords().Hash(b.Context(), "right password")
	require.NoError(b, err)
	_, err = db.Pool().Exec(b.Context(),
		`insert into users (name, password_hash) select 'user' || n, $1 from generate_series(1, $2::int) n`, hash, people)
	require.NoError(b, err)
	c := config.API{Common: servertest.Common(url), HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour,
		TrustedProxies: []string{"127.0.0.0/8"}}}
	c.Compatibility.AnonymousReads = true
	a, err := New(c, server.Deps{Log: zap.NewNop()})
	require.NoError(b, err)
	servertest.Background(b, a.Run)
	base := "http://" + a.Addr()
	require.Eventually(b, func() bool {
		status, _ := servertest.Get(b, base+"/v0/incidents?limit=1")
		return status == http.StatusOK
	}, servertest.Patience, 20*time.Millisecond)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	login := func(n int) int {
		form := strings.NewReader(fmt.Sprintf("username=user%d&password=right+password", n))
		req, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, base+"/login/", form)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("10.0.%d.1", n))
		resp, err := client.Do(req)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for b.Loop() {
		var last, slowest time.Duration
		statuses := make([]int, people)
		var all sync.WaitGroup
		begin := time.Now()
		for n := range people {
			all.Go(func() { statuses[n] = login(n + 1) })
		}
		ended := make(chan struct{})
		go func() { all.Wait(); last = time.Since(begin); close(ended) }()
		reads := 0
		for busy := true; busy; reads++ {
			at := time.Now()
			status, _ := servertest.Get(b, base+"/v0/incidents?limit=1")
			require.Equal(b, http.StatusOK, status)
			slowest = max(slowest, time.Since(at))
			select {
			case <-ended:
				busy = false
			default:
			}
		}
		count := func(status int) (n float64) {
			for _, s := range statuses {
				if s == status {
					n++
				}
			}
			return n
		}
		b.ReportMetric(last.Seconds(), "s-last-answer")
		b.ReportMetric(count(http.StatusFound), "logged-in")
		b.ReportMetric(count(http.StatusServiceUnavailable), "try-again")
		b.ReportMetric(float64(slowest.Milliseconds()), "ms-slowest-read")
		b.ReportMetric(float64(reads), "reads")
	}
}
