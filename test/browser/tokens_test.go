//go:build browser

package browser

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// commandLine listens as `iris login` does. It returns the address to open, and the answers of the browser.
func commandLine(t *testing.T) (address string, answers <-chan url.Values) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	got := make(chan url.Values, 10)
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			got <- r.URL.Query()
		}
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return home + "/login/command-line?" + url.Values{"port": {strconv.Itoa(l.Addr().(*net.TCPAddr).Port)},
		"state":     {"a & b"},
		"challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "name": {"laptop.example.com"}, "scopes": {"read,incidents"}}.Encode(), got
}

func answered(t *testing.T, answers <-chan url.Values) url.Values {
	t.Helper()
	select {
	case v := <-answers:
		return v
	case <-time.After(10 * time.Second):
		require.Fail(t, "the browser did not come to the command line")
		return nil
	}
}

// arrived waits until the browser shows the page of the command line. A navigation that begins earlier can fail,
// because the browser changes its process between the two addresses.
func arrived(ctx context.Context, at *chromedp.Target) (chromedp.Void, error) {
	for {
		_, err := chromedp.Poll[bool](`location.search.includes("state=") && location.pathname === "/" && document.readyState === "complete"`)(ctx, at)
		if err == nil || ctx.Err() != nil {
			return chromedp.Void{}, err
		}
		select { // the page went away during the question
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A person allows a command line on a phone, after a log-in, and then creates and revokes a token.
func TestTokens(t *testing.T) {
	startDev(t)
	address, answers := commandLine(t)
	b := openTab(t)
	b.do("phone", chromedp.EmulateViewport(360, 780), chromedp.Navigate(address), visible(`input[name=password]`),
		chromedp.SendKeys(`input[name=username]`, "demo"),
		chromedp.SendKeys(`input[name=password]`,
			"demo"), chromedp.Click(`button.primary`), visible(`button[value=allow]`))
	require.Contains(t, b.text(`main`), "laptop.example.com")
	require.Empty(t, ask[[]string](b, overflowing))
	b.shot("90-command-line-phone")
	b.do("deny", chromedp.Click(`button[value=deny]`))
	require.Equal(t, url.Values{"error": {"access_denied"}, "state": {"a & b"}}, answered(t, answers))
	b.do("the browser arrives", arrived)
	b.do("allow", chromedp.Navigate(address), visible(`button[value=allow]`), chromedp.Click(`button[value=allow]`))
	got := answered(t, answers)
	require.Equal(t, "a & b", got.Get("state"))
	require.NotEmpty(t, got.Get("code"))
	b.do("the browser arrives", arrived)

	b.do("create a token", chromedp.Navigate(home+"/tokens"), visible(`input[name=name]`),
		chromedp.SendKeys(`input[name=name]`, "backup-script"),
		chromedp.Click(`form[action="/tokens"] button.primary`), visible(`.secret pre`))
	require.Regexp(t, `^iris_p_[0-9A-Za-z]{43}[0-9a-f]{8}$`, b.text(`.secret pre`))
	require.Empty(t, ask[[]string](b, overflowing))
	b.shot("91-token-created-phone")
	b.do("wide", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(home+"/incidents"),
		chromedp.Click(`.who summary`), chromedp.Click(`.who a[href="/tokens"]`), visible(`td.title`))
	require.Contains(t, b.text(`td.title`), "backup-script")
	b.shot("92-tokens")
	b.do("revoke it", chromedp.Click(`form[action$=revoke] button`), visible(`.flash`))
	require.Contains(t, b.text(`.flash`), "is revoked")
	require.Contains(t, b.text(`main`), "You have no token")
	b.shot("93-revoked")
	b.do("a service token on a phone", chromedp.EmulateViewport(360, 780),
		chromedp.Click(`.tabs a[href="/service-tokens"]`), visible(`input[name=team]`),
		chromedp.SendKeys(`input[name=name]`,
			"deploy"), chromedp.Click(`input[value=oncall]`),
		chromedp.Click(`form[action="/service-tokens"] button.primary`),
		visible(`.secret pre`))
	require.Regexp(t, `^iris_s_`, b.text(`.secret pre`))
	require.Contains(t, b.text(`td.title`), "of the administrators")
	require.Empty(t, ask[[]string](b, overflowing))
	b.shot("94-service-token-phone")
}
