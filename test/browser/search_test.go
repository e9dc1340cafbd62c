//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Ctrl-K finds a page by some letters of its name. The arrow keys choose, Enter opens.
func TestSearch(t *testing.T) {
	startDev(t)
	b := openTab(t)
	b.logIn("demo", "demo")
	b.do("Ctrl-K", chromedp.Navigate(home+"/statistics"), visible(`a.find`),
		chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)), visible(chromedp.CSS(`dialog.search[open] input`)))
	b.do("type", chromedp.KeyEvent("demo-plan"), visible(chromedp.CSS(`dialog.search a[href="/plans/demo-plan"]`)))
	b.shot("95-search")
	b.do("choose", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), visible(`#simulation`))
	b.do("Escape closes", chromedp.Click(`a.find`), visible(chromedp.CSS(`dialog.search[open] input`)), chromedp.KeyEvent(kb.Escape),
		chromedp.WaitNotVisible(chromedp.CSS(`dialog.search`)))
	b.do("nothing", chromedp.Click(`a.find`), visible(chromedp.CSS(`dialog.search[open] input`)),
		chromedp.KeyEvent("no such thing"), visible(chromedp.CSS(`dialog.search .results p`)), chromedp.KeyEvent(kb.Enter),
		visible(`main form[action="/search"]`))
	require.Equal(t, "no such thing", ask[string](b, `document.querySelector("main input[name=q]").value`))
	b.do("its page", chromedp.Navigate(home+"/search?q=demo"), visible(`main .found a[href="/people/demo"]`))
	b.shot("96-search-page")
}
