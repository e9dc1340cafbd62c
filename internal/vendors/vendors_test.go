package vendors

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                            "",
		"plain":                       "plain",
		"two\r\nlines\tand\x00 nul":   "two lines and nul",
		"\xff\xfebad":                 "\uFFFDbad",
		"token=hunter22 is wrong":     "token=[secret] is wrong",
		"\x1b[31mred\x1b[0m":          "[31mred [0m",
		strings.Repeat("ä", 200):      strings.Repeat("ä", 148) + "...",
		strings.Repeat("word ", 1000): strings.Repeat("word ", 59) + "wo...",
	} {
		require.Equal(t, want, Clean(in, "hunter22", ""), "%q", in)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\r\nb", "secret")
	f.Add("\xff\x00", "")
	f.Add(strings.Repeat("🔥", 100), "🔥🔥")
	f.Fuzz(func(t *testing.T, text, secret string) {
		got := Clean(text, secret)
		require.True(t, utf8.ValidString(got))
		require.LessOrEqual(t, len(got), maxDetail)
		require.NotContains(t, got, "\n")
		require.NotContains(t, got, "\x00")
		line := Line(text, 50)
		require.True(t, utf8.ValidString(line))
		require.LessOrEqual(t, len(line), 50)
		require.False(t, strings.ContainsAny(line, "\r\n\x00\u2028\u2029"))
		require.True(t, utf8.ValidString(CutRunes(Text(text), 5)))
		require.LessOrEqual(t, utf8.RuneCountInString(CutRunes(Text(text), 5)), 5)
		require.True(t, utf8.ValidString(Cut(Text(text), 7)))
		require.LessOrEqual(t, len(Cut(Text(text), 2)), 2)
	})
}

func TestCutRunes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "ääää", CutRunes("ääää", 4))
	require.Equal(t, "ä...", CutRunes("ääääb", 4))
	require.Equal(t, "..", CutRunes("ääääb", 2))
	require.Empty(t, CutRunes("ääääb", 0))
}

func TestPublic(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"8.8.8.8", "1.1.1.1", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"} {
		require.True(t, Public(netip.MustParseAddr(a)), a)
	}
	for _, a := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3", "224.0.0.1",
		"255.255.255.255", "198.18.0.1", "192.0.2.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1",
		"::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:0:1::", "fe80::1%eth0",
	} {
		require.False(t, Public(netip.MustParseAddr(a)), a)
	}
	require.False(t, Public(netip.Addr{}))
}

func do(t *testing.T, c *Client, ctx context.Context, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("body"))
	require.NoError(t, err)
	return c.Do(req)
}

func TestClientRefusesPrivateAddresses(t *testing.T) {
	t.Parallel()
	asked := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer s.Close()
	c := NewClient(ClientConfig{PublicOnly: true})
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "127.1"} {
		_, err := do(t, c, t.Context(), "http://"+host+":"+port)
		require.Error(t, err, host)
		require.NotEqual(t, messages.OutcomeSent, FromError(err).Outcome)
		if host == "127.0.0.1" || host == "localhost" {
			require.ErrorIs(t, err, errPrivateAddress)
			require.Equal(t, messages.OutcomeRejected, FromError(err).Outcome)
		}
	}
	require.False(t, asked)
}

func TestClientFollowsNoRedirects(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
	}))
	defer s.Close()
	resp, err := do(t, NewClient(ClientConfig{}), t.Context(), s.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusPermanentRedirect, resp.StatusCode)
	require.Equal(t, 1, asked)
	require.Equal(t, messages.OutcomeRejected, FromStatus(resp, "").Outcome)
}

func TestClientLimitsTheResponseSize(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	resp, err := do(t, NewClient(ClientConfig{MaxBody: 5000}), t.Context(), s.URL)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Len(t, body, 5000)
	require.NoError(t, resp.Body.Close())
}

func TestClientReportsWhetherTheRequestWasSent(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := ln.Addr().String()
	require.NoError(t, ln.Close())
	c := NewClient(ClientConfig{Timeout: 200 * time.Millisecond})

	var call *CallError
	_, err = do(t, c, t.Context(), "http://"+closed)
	require.ErrorAs(t, err, &call)
	require.False(t, call.Sent)
	require.Equal(t, messages.OutcomeUnavailable, FromError(err).Outcome)

	_, err = do(t, c, t.Context(), "http://name.invalid")
	require.ErrorAs(t, err, &call)
	require.False(t, call.Sent)

	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	_, err = do(t, c, t.Context(), s.URL+"/?password=hunter22")
	require.ErrorAs(t, err, &call)
	require.True(t, call.Sent)
	require.Equal(t, messages.OutcomeUnknown, FromError(err).Outcome)
	require.NotContains(t, err.Error(), "hunter22")

	// The server accepts the connection and does not answer the TLS handshake: no request was sent.
	_, err = do(t, c, t.Context(), "https://"+s.Listener.Addr().String())
	require.ErrorAs(t, err, &call)
	require.False(t, call.Sent)
}

// A kept connection that the server closed causes no failure. Nothing was written to it, so a new one is opened.
func TestClientReplacesClosedConnections(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer s.Close()
	c := NewClient(ClientConfig{})
	for range 3 {
		resp, err := do(t, c, t.Context(), s.URL)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		s.CloseClientConnections()
		require.Eventually(t, func() bool {
			resp, err := do(t, c, t.Context(), s.URL)
			if err != nil {
				return false
			}
			_ = resp.Body.Close()
			return true
		}, 5*time.Second, time.Millisecond)
	}
}

func TestFromStatus(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]messages.Outcome{
		301: messages.OutcomeRejected, 400: messages.OutcomeRejected, 404: messages.OutcomeRejected, 408: messages.OutcomeUnavailable,
		410: messages.OutcomeRejected, 425: messages.OutcomeUnavailable, 429: messages.OutcomeThrottled, 500: messages.OutcomeUnavailable,
		501: messages.OutcomeUnavailable, 502: messages.OutcomeUnknown, 503: messages.OutcomeUnavailable, 504: messages.OutcomeUnknown,
		524: messages.OutcomeUnknown, 599: messages.OutcomeUnavailable, 103: messages.OutcomeUnknown, 999: messages.OutcomeUnavailable,
	} {
		r := FromStatus(&http.Response{StatusCode: code, Header: http.Header{}}, "said\nso")
		require.Equal(t, want, r.Outcome, code)
		require.NotContains(t, r.Detail, "\n")
	}
	r := FromStatus(&http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {"3"}}}, "")
	require.Equal(t, messages.OutcomeThrottled, r.Outcome)
	require.Equal(t, 3*time.Second, r.RetryAfter)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-5": 0, "0.5": 500 * time.Millisecond, "nonsense": 0, "999999": maxRetryAfter, "NaN": 0,
		"Inf": maxRetryAfter, "1e300": maxRetryAfter, "Fri, 20 Nov 2026 12:00:30 GMT": 30 * time.Second, "Fri, 20 Nov 2026 11:00:00 GMT": 0,
		"Fri, 20 Nov 2099 11:00:00 GMT": maxRetryAfter,
	} {
		require.Equal(t, want, RetryAfter(http.Header{"Retry-After": {in}}, now), "%q", in)
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("7")
	f.Add("Fri, 20 Nov 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, text string) {
		d := RetryAfter(http.Header{"Retry-After": {text}}, time.Unix(1, 0))
		require.GreaterOrEqual(t, d, time.Duration(0))
		require.LessOrEqual(t, d, maxRetryAfter)
	})
}
