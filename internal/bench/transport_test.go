package bench

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func say(t *testing.T, c *http.Client, url, body string) (int, string, error) {
	t.Helper()
	resp, err := c.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func TestTheLoadKeepsItsConnections(t *testing.T) {
	t.Parallel()
	var dialled atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch string(body) {
		case "break":
			panic(http.ErrAbortHandler)
		case "last":
			w.Header().Set("Connection", "close")
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(append([]byte("got "), body...))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			dialled.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := loadClient(4)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				status, text, err := say(t, c, s.URL, "one")
				if err != nil || status != http.StatusCreated || text != "got one" {
					t.Errorf("%d %q %v", status, text, err)
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, dialled.Load(), int64(4))
	_, _, err := say(t, c, s.URL, "break")
	require.Error(t, err)
	for range 2 {
		status, text, err := say(t, c, s.URL, "last")
		require.NoError(t, err, "a connection that broke or was closed is not used again")
		require.Equal(t, http.StatusCreated, status)
		require.Equal(t, "got last", text)
	}
}

func TestTheLoadSpeaksTLSTheUsualWay(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	defer s.Close()
	c := loadClient(1)
	_, _, err := say(t, c, s.URL, "")
	require.ErrorContains(t, err, "certificate")
}
