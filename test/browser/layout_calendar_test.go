//go:build browser

package browser

import (
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

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

// Opens the dialogs that scripts make, with long names, in a wide window and on a phone. Their buttons must be visible at once, and axe-core
// must find no violations. TestLayout opens the others.
func TestDialogs(t *testing.T) {
	source, err := os.ReadFile(os.Getenv("IRIS_AXE"))
	require.NoError(t, err, "run test/browser.sh, which fetches axe-core")
	startDev(t)
	api := newClient(t)
	api.addLongNames()
	at := "/teams/" + url.PathEscape(emojiTeam)
	api.call(http.MethodPost, "/api/v0/events", object{"team": emojiTeam, "role": "primary", "user": "demo", "start": time.Now().Unix() + 2*86400, "end": time.Now().Unix() + 3*86400}, nil)
	b := openTab(t)
	b.logIn("demo", "demo")
	card := func(title string) string {
		return `[...document.querySelectorAll(".card")].find((c) => c.textContent.startsWith("` + title + `")).querySelector(":scope > button")`
	}
	main := func(text string) string {
		return `[...document.querySelectorAll("main button")].find((e) => e.textContent.startsWith("` + text + `"))`
	}
	inDialog := func(text string) string {
		return `[...document.querySelectorAll("dialog[open] button")].find((e) => e.textContent.startsWith("` + text + `"))`
	}
	const shift = `document.querySelector(".list-row, .ec-event:not(.past)")`
	b.inEach(t, []look{{"wide", 1280, 900, "light"}, {"phone", 360, 480, "dark"}}, func(b *tab, l look) {
		for _, d := range []struct {
			name, path string
			press      []string // elements, one after the other
		}{
			{"add", at, []string{main("Add or override")}}, {"feed", at, []string{main("Calendar feed")}}, {"take", at, []string{main("Take the pager")}},
			{"details", at, []string{shift}}, {"edit", at, []string{shift, inDialog("Edit")}}, {"override", at, []string{shift, inDialog("Override")}},
			{"swap", at, []string{shift, inDialog("Swap")}}, {"delete-shift", at, []string{shift, inDialog("Delete")}},
			{"cover", at + "/coverage", []string{main("Change")}}, {"cover-other", at + "/coverage", []string{main("Another role")}}, {"fill", at + "/coverage", []string{main("Fill")}},
			{"schedule", at + "/schedules", []string{main("Add weekly")}}, {"rotation", at + "/schedules", []string{main("Add rotation")}}, {"import", at + "/schedules", []string{main("Import a")}},
			{"roster-add", at + "/rosters", []string{main("Add roster")}}, {"roster-rename", at + "/rosters", []string{main("Rename")}}, {"roster-delete", at + "/rosters", []string{main("Delete")}},
			{"member-remove", at + "/rosters", []string{`document.querySelector("main button[aria-label^=Remove]")`}},
			{"delete", at + "/settings", []string{main("Delete the team")}}, {"subscribe", at + "/settings", []string{main("Subscribe")}}, {"team", "/teams", []string{main("New team")}},
			{"reminder", "/me", []string{card("Reminders")}}, {"unavailable", "/me", []string{card("When I cannot")}},
			{"feed-mine", "/me", []string{main("Calendar feed")}}, {"absences", "/me", []string{main("Subscribe")}},
		} {
			b.t.Run(d.name, func(t *testing.T) {
				b := b.in(t)
				b.do("the page", chromedp.Navigate(home+d.path), visible(`#oncall:not([aria-busy])`), settled)
				for _, e := range d.press {
					b.until("the button is there", `Boolean(`+e+`)`)
					ask[bool](b, e+`.click() === undefined`)
				}
				const buttons = `[...document.querySelectorAll("dialog[open] :is(.dialog-foot, form > .row:last-child, .dialog-acts) button")]`
				b.until("it is open", buttons+`.length > 0`)
				b.do("its content is there", settled)
				b.shot("72-" + l.name + "-dialog-" + d.name)
				require.Empty(t, ask[[]string](b, buttons+`.filter((e) => e.getBoundingClientRect().bottom > innerHeight || e.getBoundingClientRect().top < 0).map((e) => e.textContent)`), "buttons that cannot be seen")
				b.sound(string(source))
			})
		}
	})
}
