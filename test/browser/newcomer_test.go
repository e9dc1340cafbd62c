//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A newcomer gets from the empty product to the first page of their own plan by the three steps of the home page.
func TestANewcomerGetsTheFirstPage(t *testing.T) {
	startDev(t, "--no-demo")
	b := openTab(t)
	b.logIn("demo", "demo")
	require.Equal(t, []string{"to do", "to do", "to do"}, b.steps())
	b.shot("100-newcomer")

	b.do("step 1: the contacts", chromedp.Click(`#first-steps ~ ol li:nth-child(1) a`),
		visible(`form[action$="/contacts"]`))
	b.do("add a phone number", chromedp.SendKeys(`form[action$="/contacts"] input[name=destination]`, "+12025550100"),
		chromedp.Click(`form:has(select[name=mode]) button`), visible(`form[action$="/contacts/sms/test"]`))
	require.Contains(t, b.text(`main`), "A high priority page is sent by SMS at once")
	b.shot("101-newcomer-contact")
	b.do("home", chromedp.Click(`.brand`), visible(`#first-steps`))
	require.Equal(t, []string{"done", "to do", "to do"}, b.steps())

	b.do("step 2: a plan, which pages the newcomer unless they change it",
		chromedp.Click(`#first-steps ~ ol li:nth-child(2) a`), visible(`#editor`), settled,
		chromedp.SendKeys(`#editor input[name=name]`, "my-first-plan"), visible(`#draft .line li`))
	require.Contains(t, b.text(`#draft`), "demo")
	b.shot("102-newcomer-plan")
	b.do("save it", chromedp.Click(`button[value="save"]`), visible(`.flash`), visible(`#simulation .line`))
	b.do("home", chromedp.Click(`.brand`), visible(`#first-steps`))
	require.Equal(t, []string{"done", "done", "to do"}, b.steps())

	b.do("step 3: an incident with the plan", chromedp.Click(`#first-steps ~ ol li:nth-child(3) a`),
		visible(`input[name=title]`))
	require.Equal(t, "my-first-plan", ask[string](b, `document.querySelector("input[name=plan]").value`))
	b.do("open it", chromedp.SendKeys(`input[name=title]`, "my first alert"), chromedp.Click(`button[value=open]`),
		visible(`.timeline`),
		visible(`.chip.sent, .chip.delivered`))
	b.shot("103-newcomer-incident")
	b.do("the page is in the mailbox", chromedp.Click(`nav.side a[href="/dev/mailbox"]`),
		visible(`article.letter a[href*="/ack/"]`))
	require.Contains(t, b.text(`article.letter`), "my first alert")
	b.shot("104-newcomer-mailbox")
	link := ask[string](b, `document.querySelector("article.letter a[href*='/ack/']").href`)
	b.do("its link leads to a small page without scripts", chromedp.EmulateViewport(360, 800), chromedp.Navigate(link),
		visible(`button.primary`))
	require.Equal(t, "my first alert", b.text(`h1`))
	require.Regexp(t, `opened \d+ s ago, .*\d:\d\d`, b.text(`main`), "its age in words, and the time")
	require.Regexp(t, `Open incident #\d+`, b.text(`a.button[href^="/incidents/"]`))
	require.Equal(t, []int{48, 0, 0}, ask[[]int](b, `(() => {
		const button = document.querySelector("button.primary").getBoundingClientRect(), heading = document.querySelector("h1").getBoundingClientRect();
		return [Math.min(48, button.height), Math.round(heading.width - button.width), document.scripts.length];
	})()`), "the button is at least 48 px high and as wide as the card")
	require.Empty(t, ask[[]string](b, overflowing))
	b.shot("104-newcomer-acknowledge")
	b.do("its button acknowledges", chromedp.Click(`button.primary`), chromedp.WaitNotPresent(`button.primary`))
	require.Contains(t, b.text(`.chip`), "Acknowledged by demo")
	b.do("home shows the incident and no more first steps", chromedp.EmulateViewport(1280, 900),
		chromedp.Navigate(home+"/"), visible(`.chip.acknowledged`), chromedp.WaitNotPresent(`#first-steps`))
	require.Contains(t, b.text(`.incidents`), "my first alert")
	b.shot("105-newcomer-done")
}

// steps returns what the first steps of the home page say about each.
func (b *tab) steps() []string {
	b.t.Helper()
	return ask[[]string](b, `[...document.querySelectorAll("#first-steps ~ ol > li > .chip")].map((c) => c.textContent)`)
}
