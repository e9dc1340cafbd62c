//go:build browser || keycloak

package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// tab is a browser tab.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func openTab(t *testing.T) *tab {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking",
			true), chromedp.WindowSize(1280, 900))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	return newTab(t, alloc)
}

// newTab opens a tab: of a new browser, or of the browser whose tab parent is.
func newTab(t *testing.T, parent context.Context) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(parent)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: countRequests})
	require.NoError(t, err)
	return &tab{t, ctx}
}

// countRequests counts the open requests of the page's scripts. A request counts for 100 ms longer, so that the next
// one begins meanwhile.
const countRequests = `(() => { const fetch = window.fetch; window.requestsInFlight = 0;
	window.fetch = (...args) => { window.requestsInFlight++; return fetch(...args).finally(() => setTimeout(() => window.requestsInFlight--, 100)); }; })()`

// patient repeats an action that waits while the page is replaced by another one: Chromium then refuses to look at the
// page.
func patient[T any](wait chromedp.Action[T]) chromedp.Action[T] {
	return func(ctx context.Context, at *chromedp.Target) (T, error) {
		for {
			v, err := wait(ctx, at)
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "(-32000)") {
				return v, err
			}
		}
	}
}

// visible waits for an element.
func visible[S chromedp.Selectable](selector S) chromedp.Action[chromedp.Void] {
	return patient(chromedp.WaitVisible(selector))
}

// settled waits until the page has shown the answers of its requests. Otherwise a button may move while it is clicked.
func settled(ctx context.Context, at *chromedp.Target) (chromedp.Void, error) {
	_, err := patient(chromedp.Poll[bool](`document.readyState === "complete" && !document.querySelector("[aria-busy=true]") && window.requestsInFlight === 0`))(ctx, at)
	return chromedp.Void{}, err
}

// do runs steps with a timeout.
func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	for i, step := range steps {
		if err := chromedp.Do(ctx, step); err != nil {
			_ = b.store("failed", chromedp.FullScreenshot(100))
			require.NoError(b.t, err, "%s: step %d", what, i+1)
		}
	}
}

func withTimeout(b *tab) (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, 20*time.Second)
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
	require.NoError(b.t, err, selector)
	return text
}

// shot stores a screenshot of the whole page.
func (b *tab) shot(name string) {
	b.t.Helper()
	require.NoError(b.t, b.store(name, chromedp.FullScreenshot(100)))
}

func (b *tab) store(name string, take chromedp.Action[[]byte]) error {
	dir := os.Getenv("IRIS_SCREENSHOTS")
	if dir == "" {
		return nil
	}
	// Chromium sometimes does not answer a request for a screenshot: it waits for a frame that it never draws.
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		png, err := chromedp.Run(ctx, take)
		cancel()
		if err != nil && try < 4 {
			continue
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
}

// ask evaluates an expression in the page and returns its value.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, expression)
	return v
}

// overflowing lists elements that are wider than the window, and controls that are outside the window.
const overflowing = `(() => {
	const w = innerWidth, out = [], wide = document.documentElement.scrollWidth;
	if (wide > w) out.push("the page is " + wide + " px wide");
	for (const e of document.querySelectorAll("main button, main summary, main input, main select, dialog button, dialog label")) {
		const r = e.getBoundingClientRect();
		if (r.width && (r.right > w + 1 || r.left < -1) && !e.closest(".grid-holder, .tabs.scroll, .unseen, .segmented input")) out.push(e.outerHTML.slice(0, 80) + " at " + r.left + " to " + r.right);
		if (e.matches("label") && e.scrollWidth > e.clientWidth + 1) out.push(e.outerHTML.slice(0, 80) + ": its text is wider");
	}
	return out;
})()`
