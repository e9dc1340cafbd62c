//go:build browser

package browser

import (
	"fmt"
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
		{"list-teams", "/oncall/teams", `.steps`}, {"list-search", "/oncall/teams?q=fire", `.steps`}, {"list-none",
			"/oncall/teams?q=nothing", `.card`},
		{"search", "/search?q=" + unbroken[:8], `.found`}, {"search-none", "/search?q=nothing+has+this", `h1`},
		{"list-team", "/oncall/teams/" + url.PathEscape(emojiTeam), `td.title`}, {"list-me", "/oncall/me",
			`h2`}, {"teams-search", "/teams?q=" + unbroken[:20], `#oncall:not([aria-busy]) section.card`},
	}
}

// Opens the dialogs that scripts make, with long names, in a wide window and on a phone. Their buttons must be visible
// at once, and axe-core must find no violations, and the focus returns to what opened them. TestLayout opens the
// others.
func TestDialogs(t *testing.T) {
	source, err := os.ReadFile(os.Getenv("IRIS_AXE"))
	require.NoError(t, err, "run test/browser.sh, which fetches axe-core")
	startDev(t)
	api := newClient(t)
	api.addLongNames()
	at := "/teams/" + url.PathEscape(emojiTeam)
	api.call(http.MethodPost, "/api/v0/events", object{"team": emojiTeam, "role": "primary", "user": "demo",
		"start": time.Now().Unix() + 2*86400, "end": time.Now().Unix() + 3*86400}, nil)
	day := func(n int64) int64 { return time.Now().Unix() + n*86400 }
	for _, s := range []object{{"role": "manager", "user": "demo", "start": day(0) - 3600, "end": day(1)}, {"role": "shadow", "user": "demo", "start": day(2), "end": day(3)},
		{"role": "shadow", "user": "ana", "start": day(5), "end": day(6)}} {
		s["team"] = emojiTeam
		api.call(http.MethodPost, "/api/v0/events", s, nil)
	}
	api.call(http.MethodPost, "/api/v0"+at+"/rosters/"+unbroken+"/schedules",
		object{"role": "vacation", "advanced_mode": 0, "auto_populate_threshold": 0,
			"events": []object{{"start": 0, "duration": 604800}}}, nil)
	api.call(http.MethodPost, "/api/v0/services", object{"name": unbroken}, nil)
	api.call(http.MethodPost, "/api/v0"+at+"/services", object{"name": unbroken}, nil)
	b := openTab(t)
	b.logIn("demo", "demo")
	card := func(title string) string {
		return `[...document.querySelectorAll(".card")].find((c) => c.textContent.startsWith("` + title +
			`")).querySelector(":scope > button")`
	}
	main := func(text string) string {
		return `[...document.querySelectorAll("main button")].find((e) => e.textContent.startsWith("` + text + `"))`
	}
	inDialog := func(text string) string {
		return `[...document.querySelectorAll("dialog[open] button")].find((e) => e.textContent.startsWith("` + text +
			`"))`
	}
	const mine = `[...document.querySelectorAll(".list-row, .ec-event:not(.past)")].find((e) => e.textContent.includes("Demo"))`
	const shift = `document.querySelector(".list-row, .ec-event:not(.past)")`
	b.inEach(t, []look{{"wide", 1280, 900, "light"}, {"phone", 360, 480, "dark"}}, func(b *tab, l look) {
		for _, d := range []struct {
			name, path string
			press      []string // elements, one after the other
		}{
			{"add", at, []string{main("Add or override")}}, {"feed", at, []string{main("Calendar feed")}}, {"take", at,
				[]string{main("Take the pager")}},
			{"details", at, []string{shift}}, {"edit", at, []string{shift, inDialog("Edit")}}, {"override", at,
				[]string{shift, inDialog("Override")}},
			{"swap", at, []string{shift, inDialog("Swap")}}, {"ask", at,
				[]string{mine, inDialog("Ask for a swap")}}, {"delete-shift", at, []string{shift, inDialog("Delete")}},
			{"cover", at + "/coverage", []string{main("Change")}}, {"cover-other", at + "/coverage",
				[]string{main("Another role")}}, {"fill", at + "/coverage", []string{main("Fill")}},
			{"schedule", at + "/schedules", []string{main("Add weekly")}}, {"rotation", at + "/schedules",
				[]string{main("Add rotation")}}, {"import", at + "/schedules", []string{main("Import a")}},
			{"roster-add", at + "/rosters", []string{main("Add roster")}}, {"roster-rename", at + "/rosters",
				[]string{main("Rename")}}, {"roster-delete", at + "/rosters", []string{main("Delete")}},
			{"member-remove", at + "/rosters", []string{`document.querySelector("main button[aria-label^=Remove]")`}},
			{"admin-remove", at + "/rosters",
				[]string{`document.querySelector("main button[aria-label^='Remove administrator']")`}},
			{"populate", at + "/schedules", []string{main("Preview and populate")}},
			{"delete", at + "/settings", []string{main("Delete the team")}}, {"in-use", at + "/settings",
				[]string{main("Delete the team"), inDialog("Delete the team")}},
			{"subscribe", at + "/settings", []string{main("Subscribe")}}, {"team", "/teams",
				[]string{main("New team")}},
			{"unavailable", "/me", []string{card("When I cannot")}},
			{"feed-mine", "/me", []string{main("Calendar feed")}}, {"absences", "/me", []string{main("Subscribe")}},
		} {
			b.t.Run(d.name, func(t *testing.T) {
				b := b.in(t)
				b.do("the page", chromedp.Navigate(home+d.path), visible(`#oncall:not([aria-busy])`), settled)
				for _, e := range d.press {
					b.until("the button is there", `Boolean(`+e+`)`)
					ask[bool](b, `((e) => { e.focus(); e.click(); return true; })(`+e+`)`)
				}
				const buttons = `[...document.querySelectorAll("dialog[open] :is(.dialog-foot, form > .row:last-child, .dialog-acts) button")]`
				b.until("it is open", buttons+`.length > 0`)
				b.do("its content is there", settled)
				b.shot("72-" + l.name + "-dialog-" + d.name)
				require.Empty(t, ask[[]string](b, buttons+
					`.filter((e) => e.getBoundingClientRect().bottom > innerHeight || e.getBoundingClientRect().top < 0).map((e) => e.textContent)`), "buttons that cannot be seen")
				b.sound(string(source))
				b.do("close it", chromedp.KeyEvent("\u001b"), chromedp.WaitNotPresent(`dialog`), settled)
				require.True(t, ask[bool](b, `document.activeElement === `+d.press[0]),
					"the focus returns to what opened the dialog")
			})
		}
	})
	b.look(looks[0])
	b.do("by person", chromedp.Navigate(home+at), visible(`#oncall:not([aria-busy])`), settled,
		chromedp.Click(`[data-view=people]`), visible(`.ec-timeline .ec-event.role-shadow`), settled)
	of := func(who string) point {
		return ask[point](b, fmt.Sprintf(`(() => { const r = [...document.querySelectorAll(".ec-event.role-shadow")].find((e) => e.textContent.includes(%q)).getBoundingClientRect(); return { X: r.x + 30, Y: r.y + 8 }; })()`, who))
	}
	from := of("Demo")
	later := point{from.X + b.noon("Demo", 3).X - b.noon("Demo", 2).X, from.Y}
	for _, d := range []struct {
		name     string
		from, to point
	}{{"Move shift", from, later}, {"Swap or move", from, of("مدير")}, {"Give to somebody else", from, point{from.X, b.noon("Unbroken_", 2).Y}}, {"Add or override", b.noon("Demo", 4), b.noon("Demo", 5)}} {
		t.Run("dragged/"+d.name, func(t *testing.T) {
			b := b.in(t)
			b.drag(d.name, d.from, d.to)
			b.do("it is open", visible(`dialog[open]`), settled)
			require.Equal(t, d.name, b.text(`dialog[open] h2`))
			b.soundIn(string(source), "72-dragged-"+d.name)
			b.do("close it", chromedp.KeyEvent("\u001b"), chromedp.WaitNotPresent(`dialog[open]`), settled)
		})
	}
}
