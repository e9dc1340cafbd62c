package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/access"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
)

// Wrong passwords of a stranger locked somebody out from every address.
func TestWrongPasswordsLockNobodyElseOut(t *testing.T) {
	t.Parallel()
	g := &loginGuard{}
	now := time.Unix(1_800_000_000, 0)
	for range freeAttempts {
		require.NoError(t, g.enter("6.6.6.6", "Demo", now))
	}
	err := g.enter("6.6.6.6", "ＤＥＭＯ", now)
	require.True(t, fault.Is(err, fault.Throttled), "spellings of a name are one account")
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, time.Second, f.RetryAfter)
	require.NoError(t, g.enter("1.2.3.4", "demo", now), "another address")
	require.NoError(t, g.enter("6.6.6.6", "other", now), "another account")

	allowed := 0
	for second := range 600 {
		if g.enter("6.6.6.6", "demo", now.Add(time.Duration(second)*time.Second)) == nil {
			allowed++
		}
	}
	require.Less(t, allowed, 20, "ten minutes of guessing")

	g.succeeded("6.6.6.6", "demo")
	require.NoError(t, g.enter("6.6.6.6", "demo", now), "the right password ends the wait")
}

// Two processes of iris-api share the addresses; a process that starts again still knows them.
func TestAKnownAddressIsNeverSlowedDown(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	passwords := auth.NewPasswords()
	hash, err := passwords.Hash(t.Context(), "right password")
	require.NoError(t, err)
	_, err = db.Pool().Exec(t.Context(), `insert into users (name, password_hash) values ('demo', $1)`, hash)
	require.NoError(t, err)
	process := func() *people {
		rows := pgpeople.NewUsers(db)
		return &people{Users: rows, accounts: auth.NewAccounts(rows, passwords), guard: &loginGuard{},
			known: access.NewKnownAddresses(db, keys), log: zaptest.NewLogger(t)}
	}
	login := func(p *people, address, password string) error {
		_, err := p.Authenticate(context.WithValue(t.Context(), addressKey{}, address), "Demo", password)
		return err
	}
	one, other := process(), process()
	require.NoError(t, login(one, "1.2.3.4", "right password"))
	for _, address := range []string{"1.2.3.4", "6.6.6.6"} {
		for range freeAttempts {
			require.ErrorIs(t, login(other, address, "wrong"), auth.ErrLogin)
		}
	}
	require.True(t, fault.Is(login(other, "6.6.6.6", "right password"), fault.Throttled), "an address that nobody logged in from")
	require.ErrorIs(t, login(other, "1.2.3.4", "wrong"), auth.ErrLogin, "the known address is still heard")
	require.NoError(t, login(other, "1.2.3.4", "right password"))
}

func TestAnAddressIsSlowedDownForAllAccounts(t *testing.T) {
	t.Parallel()
	g := &loginGuard{}
	now := time.Unix(1_800_000_000, 0)
	for n := range addressAttempts {
		require.NoError(t, g.enter("6.6.6.6", fmt.Sprint("user", n), now))
	}
	require.True(t, fault.Is(g.enter("6.6.6.6", "one more", now), fault.Throttled))
	require.NoError(t, g.enter("6.6.6.6", "one more", now.Add(time.Minute)))
	for n := range 3 * maxGuarded {
		_ = g.enter(fmt.Sprint("address", n), "demo", now)
	}
	require.LessOrEqual(t, len(g.pairs), maxGuarded)
}

// BenchmarkLogins lets 200 people log in at once, each from an address of their own, while somebody reads a page of the API.
// It reports when the last of them had an answer, how many were asked to try again, and the slowest of the other requests.
func BenchmarkLogins(b *testing.B) {
	const people = 200
	url := pgtest.URL(b)
	db := pgtest.Open(b, url, postgres.Config{})
	hash, err := auth.NewPasswords().Hash(b.Context(), "right password")
	require.NoError(b, err)
	_, err = db.Pool().Exec(b.Context(), `insert into users (name, password_hash) select 'user' || n, $1 from generate_series(1, $2::int) n`, hash, people)
	require.NoError(b, err)
	c := config.API{Common: common(url), HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour, TrustedProxies: []string{"127.0.0.0/8"}}}
	c.Compatibility.AnonymousReads = true
	a, err := NewAPI(c, Deps{Log: zap.NewNop()})
	require.NoError(b, err)
	background(b, a.Run)
	base := "http://" + a.Addr()
	require.Eventually(b, func() bool { status, _ := get(b, base+"/v0/incidents?limit=1"); return status == http.StatusOK }, patience, 20*time.Millisecond)
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
			status, _ := get(b, base+"/v0/incidents?limit=1")
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
