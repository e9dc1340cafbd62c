//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A person adds a webhook, sends a test message to it and to the e-mail address, sees what became of it, and sets a
// rule.
func TestContactsAndRules(t *testing.T) {
	startDev(t)
	ana := openTab(t)
	ana.logIn("demo", "demo")
	ana.do("open /people/demo", chromedp.Navigate(home+"/people/demo"))
	ana.do("a wrong number names the field", visible(`#contacts`), chromedp.SetValue(`select[name=mode]`, "webhook"),
		chromedp.SendKeys(`form[action$="/contacts"] > .fields input[name=destination]`,
			"no address"), chromedp.Click(`form:has(select[name=mode]) button`),
		visible(`#problem`), visible(`label.wrong input[name=destination][aria-invalid]`))
	require.Contains(t, ana.text(`label.wrong .reason`), "must be a URL")
	require.Equal(t, "Correct Number or address.", ana.text(`#problem`), "the problem stands once")
	require.Equal(t, "An address that begins with https://.", ana.text(`label.wrong small[data-choice=webhook]`))
	require.Equal(t, 1, ask[int](ana, `[...document.querySelectorAll("label.wrong small[data-choice]")].filter((e) => e.checkVisibility()).length`),
		"only the hint of the chosen kind")
	require.Equal(t, []float64{32, 32, 32}, ask[[]float64](ana, `["select[name=mode]", "label.wrong input", "form:has(select[name=mode]) button"].map((s) => document.querySelector(s).offsetHeight)`),
		"controls have one height")
	ana.do("add it", chromedp.SetValue(`label.wrong input[name=destination]`, "https://hooks.example.com/ana"),
		chromedp.Click(`form:has(select[name=mode]) button`),
		visible(`form[action$="/contacts/webhook/test"]`))
	ana.do("test the e-mail address", chromedp.Click(`form[action$="/contacts/email/test"] button`),
		visible(`#test .chip.good`))
	require.Contains(t, ana.text(`#test`), "demo@example.com")
	ana.do("set a rule", chromedp.SetValue(`select[name="rules[1].mode"]`, "call"),
		chromedp.SetValue(`select[name="rules[1].follow_ups[0].mode"]`, "email"),
		chromedp.SetValue(`input[name="rules[1].follow_ups[0].delay_seconds"]`,
			"2"), chromedp.Click(`form[action$="/rules"] button.primary`), visible(`.flash[role=status]`))
	require.Contains(t, ana.text(`main`),
		"A high priority page is sent by call at once, then by e-mail after 2 min.")
	ana.do("open /people/demo/preferences", chromedp.Navigate(home+"/people/demo/preferences"))
	ana.do("a clock with 12 hours", chromedp.SetValue(`select[name=clock]`, "12"),
		chromedp.Click(`form:has(select[name=clock]) button.primary`), visible(`body[data-clock="12"]`))
	ana.shot("people-preferences")
}
