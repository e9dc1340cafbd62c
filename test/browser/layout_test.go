//go:build browser

package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// unbroken is a long text without a place for a line break; odd has two text directions.
var unbroken, odd = strings.Repeat("Unbroken_", 25), "مدير" + strings.Repeat("x", 80)

// emojiTeam is the name of a team that begins with an emoji.
const emojiTeam = "🚒 fire brigade"

// addLongNames adds people, teams and plans with names that are hard to show, and returns an incident.
func (c *client) addLongNames() (incident int64) {
	c.t.Helper()
	c.setUp()
	v0 := "/api/v0/teams"
	c.call(http.MethodPost, v0, object{"name": emojiTeam, "scheduling_timezone": "Europe/Berlin",
		"description": unbroken}, nil)
	at := v0 + "/" + url.PathEscape(emojiTeam)
	c.call(http.MethodPost, at+"/rosters", object{"name": unbroken}, nil)
	for _, name := range []string{"demo", "ana", "chloe"} {
		c.call(http.MethodPost, at+"/rosters/"+unbroken+"/users", object{"name": name}, nil)
	}
	c.call(http.MethodPut, "/api/v0/users/ana", object{"full_name": odd}, nil)
	c.call(http.MethodPut, "/api/v0/users/chloe", object{"full_name": unbroken}, nil)
	now := time.Now().Unix()
	for i, name := range []string{"ana", "chloe"} {
		c.call(http.MethodPost, "/api/v0/events", object{"team": emojiTeam,
			"role": []string{"primary", "secondary"}[i], "user": name, "start": now - 3600, "end": now + 30*3600,
			"note": unbroken}, nil)
	}
	c.call(http.MethodPut, "/v1/teams/"+url.PathEscape(emojiTeam)+"/coverage/primary",
		object{"cover": "always", "hours": []string{}}, nil)
	c.call(http.MethodPost, "/v0/plans", object{"name": unbroken, "creator": "demo", "description": odd,
		"threshold_window": 900, "threshold_count": 10,
		"aggregation_window": 300, "aggregation_reset": 300, "steps": [][]object{{
			{"role": "team", "target": emojiTeam, "priority": "high", "template": "demo-template", "wait": 300,
				"repeat": 0}}}}, nil)
	c.call(http.MethodPut, "/v1/integrations/"+unbroken, object{"type": "generic", "application": "demo",
		"default_plan": unbroken,
		"rules":        []object{{"match": "team=" + unbroken, "plan": unbroken}}, "settings": object{"title": "{{ " +
			unbroken + " }}"}}, nil)
	c.call(http.MethodPost, "/v1/silences", object{"match": "team=" + unbroken, "application": "demo",
		"for_seconds": 3600, "recurrence": "FREQ=DAILY", "comment": odd + " " + unbroken}, nil)
	c.call(http.MethodPost, "/v1/tokens", object{"name": unbroken[:100],
		"scopes": []string{"read", "incidents", "oncall", "config"}}, nil)
	c.call(http.MethodPost, "/v1/service-tokens", object{"name": unbroken[:100], "team": emojiTeam,
		"scopes": []string{"read", "incidents", "oncall", "config"}}, nil)
	firePlan(c.t, unbroken, unbroken+" at "+odd)
	return c.number(unbroken)
}

// layoutPage is a page that TestLayout opens. ready is an element that is visible when the page is ready.
type layoutPage struct{ name, path, ready string }

// axe returns the violations that axe-core finds, with their elements. The shifts of the calendar's library are
// articles with the role of a button. ARIA in HTML does not allow that, but browsers support it.
func (b *tab) axe() []string {
	b.t.Helper()
	return ask[[]string](b, `violations(document)`)
}

const violations = `window.violations = (where) => axe.run(where, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
	.then((r) => r.violations.filter((v) => v.id !== "aria-allowed-role" || v.nodes.some((n) => !n.html.includes("ec-event"))).map((v) => v.id + ": " + v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join(" | ")));true`

// openAll opens the first 12 details in the text of the page; more are not needed, because rows of a list are alike.
// openings opens, one after the other, what lies over the page or closes another one: dialogs, popovers, menus (on one
// page, because all have the same) and confirmations. It returns what is wider than the window, and axe-core's
// violations.
const (
	openAll  = `[...document.querySelectorAll("main details:not([name], .menu, .sure)")].slice(0, 12).forEach((e) => (e.open = true)), true`
	openings = `(async () => {
	const seen = new Set(), found = [];
	for (const e of document.querySelectorAll("details[name], details.sure, details.menu, dialog:not([open]), [popover]")) {
		const what = e.id || e.querySelector("summary")?.textContent.trim(), shown = e.open, menu = e.matches(".menu");
		if (seen.has(what) || (menu && location.pathname !== "/") || (e.matches("details") && !e.checkVisibility())) continue;
		seen.add(what);
		if (e.showModal) e.showModal(); else if (e.popover) e.showPopover(); else e.open = true;
		await new Promise((next) => setTimeout(next, 20));
		if (document.documentElement.scrollWidth > innerWidth) found.push(what + " widens the page");
		for (const x of [e, ...e.querySelectorAll(".pop, nav, button, input, select, textarea")]) {
			const r = x.getBoundingClientRect();
			if (r.width && !x.closest(".wide") && (r.right > innerWidth + 1 || r.left < -1)) found.push(what + ": " + x.outerHTML.slice(0, 80) + " at " + r.left + " to " + r.right);
		}
		found.push(...(await violations(e)).map((v) => what + ": " + v));
		if (e.close) e.close(); else if (e.popover) e.hidePopover(); else e.open = shown;
	}
	return found;
})()`
)

// plant checks that axe-core and the check of widths find faults on the page and in what opens: an image without a
// text, a grey on grey, and a wide button.
func plant(b *tab, axe string) {
	b.t.Helper()
	for _, where := range []string{"main", "dialog", "popover", "details"} {
		b.do("a page", chromedp.Navigate(home+"/plans"), visible(`td.title`))
		ask[bool](b, `((where) => { const img = new Image(), text = document.createElement("p"), button = document.createElement("button");
			text.textContent = "grey"; text.style.cssText = "color: #888; background: #999"; button.textContent = "wide"; button.style.width = "4000px";
			const main = document.querySelector("main"), place = where === "main" ? main : main.appendChild(document.createElement(where === "popover" ? "div" : where));
			if (where === "details") { place.className = "sure"; place.append(document.createElement("summary")); }
			if (where === "popover") place.popover = "auto";
			place.append(img, text, button); return true; })("`+where+`")`)
		b.loadAxe(axe)
		found := append(b.axe(), ask[[]string](b, overflowing)...)
		if where != "main" {
			found = ask[[]string](b, openings)
		}
		all := strings.Join(found, "\n")
		require.Contains(b.t, all, "image-alt", where)
		require.Contains(b.t, all, "color-contrast", where)
		require.Contains(b.t, all, "wide", where)
	}
}

// theme switches between light and dark.
func (b *tab) theme(name string) {
	b.t.Helper()
	ctx, cancel := withTimeout(b)
	defer cancel()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: name}}})
	require.NoError(b.t, err)
}

func (b *tab) loadAxe(source string) {
	b.t.Helper()
	ask[bool](b, source+";"+violations)
}

// pages is the list of the console's pages. It adds the objects with long names that they show.
func (c *client) pages() []layoutPage {
	c.t.Helper()
	incident, at := c.addLongNames(), "/teams/"+url.PathEscape(emojiTeam)
	pages := []layoutPage{
		{"incidents", "/incidents", `#rows tr`}, {"incident", fmt.Sprintf("/incidents/%d", incident),
			`.timeline`}, {"resolved", "/incidents?show=resolved", `.tabs`},
		{"filtered", "/incidents?show=all&severity=critical&owner=" + unbroken, `.chips`}, {"open-incident",
			"/incidents/new?plan=demo-plan", `#foreseen`}, {"keys", "/incidents#keys", `.sheet`},
		{"offer", fmt.Sprintf("/incidents/%d?offer=acknowledge", incident), `#offer`},
		{"plans", "/plans", `td.title`}, {"plan", "/plans/" + unbroken, `#simulation`},
		{"integrations", "/integrations", `td.title`}, {"integration", "/integrations/" + unbroken,
			`.facts`}, {"no-integration", "/integrations?text=none", `.empty`}, {"missing", "/incidents/999999", `h1`},
		{"silences", "/silences", `td.title`}, {"silence", "/silences/1", `.facts`}, {"silence-form",
			fmt.Sprintf("/silences/new?incident=%d", incident), `#silence`},
		{"silence-edit", "/silences/1/edit", `#silence`}, {"no-silence", "/silences?show=over", `.empty`},
		{"sessions", "/sessions", `td.title`}, {"audit-log", "/audit-log?until=2100-01-01", `td.title`}, {"tokens",
			"/tokens", `td.title`}, {"all-tokens", "/tokens?all=true", `td.title`},
		{"service-tokens", "/service-tokens", `td.title`},
		{"command-line", "/login/command-line?port=49152&state=s&challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&scopes=read&name=" + unbroken[:100], `button[value=allow]`},
		{"second-factor", "/account/second-factor", `h1`}, {"invitations", "/invitations", `h1`}, {"logout", "/logout",
			`main button`}, {"session-ready", "/session-ready", `h1`},
		{"components", "/dev/components", `.chart.drawn canvas`}, {"mailbox", "/dev/mailbox", `article`},
		{"teams", "/teams", `.letter`}, {"me", "/me", `#oncall:not([aria-busy]) .card`}, {"team", at,
			`.now-role .holder`},
		{"rosters", at + "/rosters", `.roster .member`}, {"schedules", at + "/schedules",
			`#oncall:not([aria-busy]) .card`},
		{"coverage", at + "/coverage", `.stacks button`}, {"settings", at + "/settings",
			`#oncall:not([aria-busy]) .card`}, {"audit", at + "/audit", `.stacks summary`},
	}
	for _, more := range []func(*client) []layoutPage{integrationsLayout, homeLayout, plansLayout, textsLayout, calendarLayout, peopleLayout, applicationsLayout, messagesLayout, systemLayout, reviewsLayout} {
		pages = append(pages, more(c)...)
	}
	return pages
}

// publicPages are the pages that need no session.
var publicPages = []layoutPage{
	{"login", "/login", `input[name=password]`}, {"password", "/login/password", `h1`}, {"password-expired",
		"/login/password/expired", `h1`}, {"invitation-expired", "/invitation/expired", `h1`},
}

// looks are the windows in which TestLayout opens every page.
var looks = []look{{"wide", 1280, 900, "light"}, {"phone", 360, 800, "dark"}}

type look struct {
	name          string
	width, height int64
	theme         string
}

func (b *tab) look(l look) {
	b.t.Helper()
	b.do(l.name, chromedp.EmulateViewport(l.width, l.height))
	b.theme(l.theme)
}

// inEach runs the test in a tab of its own for each look. The tabs share the session, and work at the same time.
func (b *tab) inEach(t *testing.T, looks []look, test func(b *tab, l look)) {
	t.Run("looks", func(t *testing.T) {
		for _, l := range looks {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				b := newTab(t, b.ctx)
				b.look(l)
				test(b, l)
			})
		}
	})
}

// sound requires that nothing is wider than the window and that axe-core finds no violations.
func (b *tab) sound(axe string) {
	b.t.Helper()
	require.Empty(b.t, ask[[]string](b, overflowing))
	b.loadAxe(axe)
	require.Empty(b.t, b.axe())
}

// soundOpened requires the same of everything that can be opened on the page.
func (b *tab) soundOpened(axe string) {
	b.t.Helper()
	require.Empty(b.t, ask[[]string](b, overflowing))
	ask[bool](b, openAll)
	b.sound(axe)
	require.Empty(b.t, ask[[]string](b, openings))
}

// Opens every page with long names, in a wide window and on a phone. Nothing may be wider than the window, and axe-core
// must find no violations.
func TestLayout(t *testing.T) {
	require.NotEmpty(t, os.Getenv("IRIS_AXE"), "run test/browser.sh, which fetches axe-core")
	source, err := os.ReadFile(os.Getenv("IRIS_AXE"))
	require.NoError(t, err)
	axe := string(source)
	_, output := startDev(t)
	api := newClient(t)
	pages := api.pages()
	b := openTab(t)
	open := func(b *tab, l look, p layoutPage) {
		b.do(p.name, chromedp.Navigate(home+p.path), visible(chromedp.CSS(p.ready)))
		b.shot("70-" + l.name + "-" + p.name)
		b.soundOpened(axe)
	}
	for _, p := range publicPages {
		t.Run("public/"+p.name, func(t *testing.T) { open(b.in(t), looks[0], p) })
	}
	t.Run("public answers", func(t *testing.T) {
		b := b.in(t)
		b.do("any page", chromedp.Navigate(home+"/login"), visible(`h1`))
		b.answered(axe, publicAnswers())
	})
	b.logIn("demo", "demo")
	t.Run("all pages are here", func(t *testing.T) { everyPage(t, append(publicPages, pages...)) })
	plant(b.in(t), axe)
	plantFocus(b.in(t))
	b.inEach(t, looks, func(b *tab, l look) {
		for _, p := range pages {
			b.t.Run(p.name, func(t *testing.T) { open(b.in(t), l, p) })
		}
	})
	at := "/teams/" + url.PathEscape(emojiTeam)
	t.Run("wide/squeezed", func(t *testing.T) {
		b := b.in(t)
		b.do("the list", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(home+"/incidents"),
			visible(`#rows button`))
		require.Less(t, ask[float64](b, `document.querySelector("#rows button").offsetHeight`), 50.0,
			"long names do not squeeze the button")
		for _, width := range []int64{601, 768, 1000, 1099} {
			b.do("a tablet", chromedp.EmulateViewport(width, 900), settled)
			require.True(t, ask[bool](b, `[...document.querySelectorAll("#rows button")].every((e) =>
				e.getBoundingClientRect().right <= e.closest(".card").getBoundingClientRect().right)`), "%d: Acknowledge is inside the card", width)
		}
		b.shot("72-tablet-incidents")
		b.do("phone", chromedp.EmulateViewport(360, 800))
		require.True(t, ask[bool](b, `(() => { document.querySelector("details.narrow-nav").open = true;
			const left = [...document.querySelectorAll(".narrow-nav nav a")].map((e) => e.getBoundingClientRect().left);
			document.querySelector("details.narrow-nav").open = false;
			return left.length > 5 && left.every((x) => x === left[0]); })()`), "the links of the menu begin at one line")
	})
	t.Run("phone/cards", func(t *testing.T) {
		b := b.in(t)
		b.do("the list", chromedp.Navigate(home+"/incidents"), visible(`#rows button`))
		box := ask[map[string]float64](b,
			`(() => { const row = document.querySelector("#rows tr"), at = (s) => row.querySelector(s).getBoundingClientRect();
			return { title: at(".title").top, state: at(".state").top, age: at(".age").width, act: at("button").top, width: at("button").width, row: row.clientWidth }; })()`)
		require.Less(t, box["title"], box["state"], "the title is the first")
		require.Less(t, box["state"], box["act"])
		require.Positive(t, box["age"])
		require.Greater(t, box["width"], box["row"]*0.85, "the button has the width of the card")
	})
	t.Run("phone/pager", func(t *testing.T) {
		b := b.in(t)
		b.do("low window", chromedp.EmulateViewport(360, 560), chromedp.Navigate(home+at), settled,
			chromedp.Click(`button.take`), visible(saved))
		b.shot("71-phone-take")
		require.LessOrEqual(t, ask[float64](b,
			`document.querySelector("dialog[open] button[type=submit]").getBoundingClientRect().bottom`), 560.0)
		b.sound(axe)
	})
	t.Run("avatars", func(t *testing.T) {
		b := b.in(t)
		b.do("of Go", chromedp.Navigate(home+"/people"), visible(`td .avatar`))
		want := ask[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("td .person")].map((e) => [e.querySelector("bdi").textContent, e.querySelector(".avatar").className + " " + e.querySelector(".avatar").dataset.initials]))`)
		require.Greater(t, len(want), 3)
		b.do("of JavaScript", chromedp.Navigate(home+"/teams/demo"), visible(`.now-role .avatar`))
		names, err := json.Marshal(slices.Collect(maps.Keys(want)))
		require.NoError(t, err)
		got := ask[map[string]string](b, `(async (names) => {
			const { avatar } = await import(document.querySelector("script[type=module]").src.replace(/[^/]*$/, "person.js"));
			return Object.fromEntries(names.map((name) => [name, avatar(name)]).map(([name, e]) => [name, e.className + " " + e.dataset.initials]));
		})(`+string(names)+`)`)
		require.Equal(t, want, got, "scripts and templates give a person the same colour and initials")
	})
	t.Run("theme", func(t *testing.T) {
		b := b.in(t)
		background := `getComputedStyle(document.body).backgroundColor`
		b.look(looks[0])
		b.do("a page", chromedp.Navigate(home+"/plans"), visible(`td.title`))
		light := ask[string](b, background)
		choose := func(theme, shown string) {
			b.do(theme, chromedp.Click(`details.who > summary`), chromedp.Click(`.theme button[value=`+theme+`]`), visible(`html`+shown))
		}
		choose("dark", "[data-theme=dark]")
		require.NotEqual(t, light, ask[string](b, background))
		require.Equal(t, "/plans", ask[string](b, `location.pathname`), "the choice leads back to the page")
		choose("system", ":not([data-theme])")
		require.Equal(t, light, ask[string](b, background))
	})
	t.Run("answers", func(t *testing.T) { b.in(t).answered(axe, api.answers()) })
	t.Run("refusals", func(t *testing.T) { refusals(t, b.in(t), axe, output) })
}

// notHere lists pages that TestLayout does not open: they need a log-in that is not complete, are parts of pages, or are
// not pages of the console.
var notHere = []string{"/docs", "/openapi.json", "/login/second-factor", "/login/second-factor/set-up",
	"/account/second-factor/set-up", "/login/sso/{provider}/callback",
	"/incidents/people",        // a part of the page of an incident
	"/messages/{message}/html", // shown in a frame of its page
}

// everyPage requires that each page of the API's description that answers with HTML is in the list.
func everyPage(t *testing.T, pages []layoutPage) {
	resp, err := http.Get(home + "/openapi.json")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var described struct {
		Paths map[string]struct {
			Get struct {
				Tags      []string
				Responses map[string]struct{ Content map[string]any }
			}
		}
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&described))
	parameter := regexp.MustCompile(`\\\{[^/]*\\\}`)
	for path, d := range described.Paths {
		if !slices.Contains(d.Get.Tags, "pages") || d.Get.Responses["200"].Content["text/html"] == nil || slices.Contains(notHere, path) {
			continue
		}
		shape := regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(strings.TrimSuffix(path, "/")),
			"[^/]+") + "/?([?#].*)?$")
		require.True(t, slices.ContainsFunc(pages, func(p layoutPage) bool { return shape.MatchString(p.path) }),
			"no test opens %s: add it to the pages of its section", path)
	}
}

func TestTeamCalendar(t *testing.T) {
	startDev(t)
	api := newClient(t)
	api.setUp()
	api.call(http.MethodPost, "/api/v0/teams", object{"name": emojiTeam, "scheduling_timezone": "UTC"}, nil)
	b := openTab(t)
	b.logIn("demo", "demo")
	t.Run("an emoji is a heading", func(t *testing.T) {
		b := b.in(t)
		b.do("teams", chromedp.Navigate(home+"/teams"), visible(`.letter`))
		require.Contains(t, ask[[]string](b, `[...document.querySelectorAll(".letter h3")].map((e) => e.textContent)`),
			"🚒")
	})
	t.Run("weight", func(t *testing.T) {
		b := b.in(t)
		b.do("the calendar", chromedp.Navigate(home+"/teams/"+team), visible(`.ec-event`))
		font := ask[int](b, `performance.getEntriesByType("resource").find((e) => e.name.endsWith(".woff2")).decodedBodySize`)
		sum := func(size string) int {
			return ask[int](b, `[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")].reduce((sum, e) => sum + e.`+size+`, 0)`)
		}
		sent, whole := sum("encodedBodySize"), sum("decodedBodySize")
		t.Logf("the team's calendar: %d bytes sent, %d before compression", sent, whole)
		require.Less(t, sent, 120_000)
		require.Less(t, whole-font, 250_000)
		require.Less(t, font, 60_000, "a browser loads the font once, for all pages")
	})
	t.Run("Enter and Space open the same", func(t *testing.T) {
		b := b.in(t)
		for _, key := range []string{"\r", " "} {
			b.do("a shift", chromedp.Navigate(home+"/teams/"+team), visible(`.ec-event.role-primary`))
			b.until("the shift has the focus",
				`(() => { const e = document.querySelector(".ec-event.role-primary"); e?.focus(); return document.activeElement === e; })()`)
			b.do("open it", chromedp.KeyEvent(key), visible(`dialog[open] .facts`))
			require.Equal(t, []string{"Shift"}, ask[[]string](b,
				`[...document.querySelectorAll("dialog[open]")].map((e) => e.getAttribute("aria-label"))`))
		}
	})
	t.Run("a running shift is swapped from now on", func(t *testing.T) {
		b := b.in(t)
		before := api.of("primary")
		require.Len(t, before, 1)
		next := time.Now().Unix() + 3*86400
		api.call(http.MethodPost, "/api/v0/events", object{"team": team, "role": "primary", "user": "ana",
			"start": next, "end": next + 86400}, nil)
		b.do("the shift", chromedp.Navigate(home+"/teams/"+team), settled,
			chromedp.Click(`.ec-event.role-primary:not(.past)`), visible(`dialog[open] .dialog-foot button`))
		ask[bool](b, `(() => { [...document.querySelectorAll("dialog[open] button")].find((e) => e.textContent === "Swap…").click(); return true; })()`)
		b.do("with whom", visible(`dialog[open] select[aria-label="Swap with"]`))
		b.choose(`dialog[open] select[aria-label="Swap with"]`, fmt.Sprint(api.newest("primary")))
		b.do("what would change", visible(`dialog[open] .change-list .added`), visible(saved))
		b.shot("72-swap-from-now")
		b.do("swap", chromedp.Click(saved), chromedp.WaitNotPresent(`dialog[open]`))
		now := api.primary()
		require.Len(t, now, 1)
		require.Equal(t, "ana", now[0].User)
		var past shift
		api.call(http.MethodGet, fmt.Sprintf("/api/v0/events/%d", before[0].ID), nil, &past)
		require.Equal(t, "ben", past.User, "the past stays")
		require.Equal(t, before[0].Start, past.Start)
	})
	t.Run("a week on any day", func(t *testing.T) {
		b := b.in(t)
		b.do("by week", chromedp.Navigate(home+"/teams/"+team), visible(`#oncall:not([aria-busy])`),
			visible(`.ec-event`), settled, chromedp.Click(`[data-view=week]`), visible(`.ec-time-grid .ec-event`))
		b.shot("73-week")
		today := time.Now().In(teamZone(t, b)).Format(time.DateOnly)
		days := ask[[]string](b, `[...document.querySelectorAll(".ec-header time[datetime]")].map((e) => e.dateTime.slice(0, 10))`)
		require.Len(t, days, 7)
		require.Equal(t, today, days[0], "the week ahead, also on a Sunday")
	})
}

// newest returns the latest shift of a role.
func (c *client) newest(role string) (id int64) {
	c.t.Helper()
	for _, s := range c.of(role) {
		id = max(id, s.ID)
	}
	return id
}

// Each page uses one time zone and one time format, and names the zone.
func TestTimeZones(t *testing.T) {
	startDev(t)
	api := newClient(t)
	api.call(http.MethodPut, "/api/v0/users/demo", object{"time_zone": "Asia/Kathmandu"}, nil)
	fire(t, "what time is it")
	id := api.number("what time is it")
	b := openTab(t)
	b.logIn("demo", "demo")
	kathmandu := location(t, "Asia/Kathmandu")
	b.do("an incident", chromedp.Navigate(fmt.Sprintf("%s/incidents/%d", home, id)), visible(`.timeline`))
	b.until("the zone is named", `document.getElementById("zone-name").textContent === "Asia/Kathmandu, your time zone"`)
	require.Contains(t, b.text(`.timeline time`), time.Now().In(kathmandu).Format("15:"))
	b.do("a plan", chromedp.Navigate(home+"/plans/demo-plan?at=2027-01-01T14:30:00"), visible(`#simulation .line`))
	require.Regexp(t, `Fri, Jan 1, 2027, 14:30:00`, b.text(`#simulation`))
	require.Contains(t, b.text(`.ask`), "Opened at, Asia/Kathmandu")
	require.Equal(t, "Asia/Kathmandu, your time zone", b.text(`#zone-name`))
	b.do("a calendar by week", chromedp.Navigate(home+"/teams/demo"), visible(`#zone-name`))
	require.True(t, ask[bool](b, `import(document.querySelector("script[type=module]").src.replace(/[^/]*$/, "zone.js")).then((z) => z.time(Date.UTC(2027, 0, 1, 13, 5) / 1000, "UTC") === "13:05" && z.face("13:05") === "13:05" && z.length(43199) === "12\u00a0h")`),
		"the clock has 24 hours unless the person chooses 12")
	require.Regexp(t, `^Times in Asia/Kathmandu`, b.text(`#zone-name`), "the reader's zone comes first")
	api.call(http.MethodPut, "/v1/users/demo/settings", object{"time_zone": "Asia/Kathmandu", "clock": "12"}, nil)
	api.call(http.MethodPost, "/api/v0/events", object{"team": "demo", "role": "primary", "user": "demo",
		"start": time.Now().Unix() - 3600,
		"end":   time.Now().Truncate(24*time.Hour).Unix() + 3*86400 + 9*3600}, nil)
	b.do("with a clock of 12 hours", chromedp.Reload(), visible(`.now .holder`))
	require.Regexp(t, `until \w+, \w+ \d+, 0?2:45.PM `, b.text(`.now .holder`), "hand-offs are at 9:00 UTC")
}
