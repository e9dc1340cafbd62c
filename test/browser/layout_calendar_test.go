//go:build browser

package browser

import (
	"net/url"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// calendarLayout adds hostile data with api and returns pages for TestLayout.
func calendarLayout(*client) []layoutPage {
	return []layoutPage{
		{"list-teams", "/oncall/teams", `.steps`}, {"list-search", "/oncall/teams?q=fire", `.steps`}, {"list-none", "/oncall/teams?q=nothing", `.card`},
		{"list-team", "/oncall/teams/" + url.PathEscape(emojiTeam), `td.title`}, {"list-me", "/oncall/me", `h2`}, {"teams-search", "/teams?q=" + unbroken[:20], `#oncall:not([aria-busy]) section.card`},
	}
}

// Opens every kind of dialog with long names in a small window. Its buttons must be visible at once, and axe-core must find no violations.
func TestDialogs(t *testing.T) {
	axe, err := os.ReadFile(os.Getenv("IRIS_AXE"))
	require.NoError(t, err, "run test/browser.sh, which fetches axe-core")
	startDev(t)
	api := newClient(t)
	api.addLongNames()
	b := openTab(t)
	b.logIn("demo", "demo")
	at := "/teams/" + url.PathEscape(emojiTeam)
	const press = `((text) => [...document.querySelectorAll("main button")].find((e) => e.textContent.startsWith(text)).click() === undefined)`
	for _, d := range []struct{ name, path, open string }{
		{"add", at, press + `("Add or override")`}, {"feed", at, press + `("Calendar feed")`}, {"take", at, press + `("Take the pager")`},
		{"details", at, `document.querySelector(".list-row").click() === undefined`}, {"cover", at + "/coverage", press + `("Change")`}, {"fill", at + "/coverage", press + `("Fill")`},
		{"schedule", at + "/schedules", press + `("Add weekly")`}, {"rotation", at + "/schedules", press + `("Add rotation")`}, {"import", at + "/schedules", press + `("Import a")`},
		{"delete", at + "/settings", press + `("Delete the team")`}, {"subscribe", at + "/settings", press + `("Subscribe")`}, {"team", "/teams", press + `("New team")`},
		{"reminder", "/me", `[...document.querySelectorAll(".card")].find((c) => c.textContent.startsWith("Reminders")).querySelector(":scope > button").click() === undefined`},
		{"unavailable", "/me", `[...document.querySelectorAll(".card")].find((c) => c.textContent.startsWith("When I cannot")).querySelector(":scope > button").click() === undefined`},
		{"absences", "/me", press + `("Subscribe")`},
	} {
		t.Run(d.name, func(t *testing.T) {
			b := b.in(t)
			b.do("a small window", chromedp.EmulateViewport(360, 480), chromedp.Navigate(home+d.path), chromedp.WaitVisible(`#oncall:not([aria-busy])`), settled)
			ask[bool](b, d.open)
			const buttons = `[...document.querySelectorAll("dialog[open] :is(.dialog-foot, form > .row:last-child, .dialog-acts) button")]`
			b.until("it is open", buttons+`.length > 0`)
			b.shot("72-dialog-" + d.name)
			require.Empty(t, ask[[]string](b, buttons+`.filter((e) => e.getBoundingClientRect().bottom > innerHeight || e.getBoundingClientRect().top < 0).map((e) => e.textContent)`), "buttons that cannot be seen")
			require.Empty(t, ask[[]string](b, overflowing))
			b.loadAxe(string(axe))
			require.Empty(t, b.axe())
		})
	}
}
