//go:build browser

package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// in returns the tab for a subtest.
func (b *tab) in(t *testing.T) *tab { return &tab{t, b.ctx} }

// until waits for an expression in the page to become true.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 15*time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, patient(chromedp.Poll[bool](expression))); err != nil {
		_ = b.store("failed", chromedp.FullScreenshot(100))
		require.NoError(b.t, err, what)
	}
}

// choose selects an option of a select element and fires the events of a selection by a person.
func (b *tab) choose(selector, value string) {
	b.t.Helper()
	ask[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("input", { bubbles: true }));
		return s.dispatchEvent(new Event("change", { bubbles: true })); })()`, selector, value))
}

type point struct{ X, Y float64 }

// drag moves the mouse in steps with its button pressed.
func (b *tab) drag(what string, from, to point) {
	b.t.Helper()
	left := func(p *input.DispatchMouseEventParams) {
		p.Button, p.Buttons, p.ClickCount = input.MouseButtonLeft, 1, 1
	}
	steps := []chromedp.Action[chromedp.Void]{chromedp.MouseEvent(chromedp.MouseMoved, from.X, from.Y),
		chromedp.MouseEvent(chromedp.MousePressed, from.X, from.Y, left)}
	for i := 1.0; i <= 8; i++ {
		steps = append(steps, chromedp.MouseEvent(chromedp.MouseMoved, from.X+(to.X-from.X)*i/8, from.Y+
			(to.Y-from.Y)*i/8, left))
	}
	b.do(what, append(steps, chromedp.MouseEvent(chromedp.MouseReleased, to.X, to.Y, left))...)
}

// middle returns the middle of an element in the window.
func (b *tab) middle(selector string) point {
	b.t.Helper()
	return ask[point](b, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return { X: r.x + r.width / 2, Y: r.y + r.height / 2 }; })()`, selector))
}

func (b *tab) logIn(name, password string) {
	b.t.Helper()
	b.do("log in", chromedp.Navigate(home+"/login"), chromedp.SendKeys(`input[name=username]`, name),
		chromedp.SendKeys(`input[name=password]`, password),
		chromedp.Click(`button.primary`), visible(`#on-call-now`))
}

// client calls the API with its own session.
type client struct {
	http.Client
	t     *testing.T
	token string
}

// password is that of the user demo.
const password = "demo"

func newClient(t *testing.T) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	c := &client{Client: http.Client{Jar: jar}, t: t}
	resp, err := c.PostForm(home+"/login", url.Values{"username": {"demo"}, "password": {password}})
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Token string `json:"csrf_token"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	require.NotEmpty(t, answer.Token)
	c.token = answer.Token
	return c
}

func (c *client) call(method, path string, body, answer any) {
	c.t.Helper()
	sent, err := json.Marshal(body)
	require.NoError(c.t, err)
	req, err := http.NewRequestWithContext(c.t.Context(), method, home+path, bytes.NewReader(sent))
	require.NoError(c.t, err)
	req.Header.Set("X-CSRF-TOKEN", c.token)
	resp, err := c.Do(req)
	require.NoError(c.t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.Less(c.t, resp.StatusCode, 300, "%s %s: %s", method, path, got)
	if answer != nil {
		require.NoError(c.t, json.Unmarshal(got, answer), string(got))
	}
}

type onCall struct {
	User string `json:"user"`
	End  int64  `json:"end"`
}

const team = "calendar" // the team of the tests

func (c *client) primary() []onCall {
	c.t.Helper()
	var now []onCall
	c.call(http.MethodGet, "/api/v0/teams/"+team+"/oncall/primary", nil, &now)
	return now
}

type object = map[string]any

// setUp adds a team with a roster, in which ben is on call now, and a plan that pages the person on call.
func (c *client) setUp() {
	c.t.Helper()
	v0 := "/api/v0/teams"
	c.call(http.MethodPost, v0, object{"name": team, "scheduling_timezone": "Europe/Berlin",
		"description": "Those who keep the shop open"}, nil)
	c.call(http.MethodPut, "/api/v0/users/demo", object{"time_zone": "Europe/Berlin"},
		nil) // the calendar is shown in the reader's zone
	c.call(http.MethodPost, v0+"/"+team+"/rosters", object{"name": "engineers"}, nil)
	for _, name := range []string{"ana", "ben", "chloe", "demo"} {
		c.call(http.MethodPost, v0+"/"+team+"/rosters/engineers/users", object{"name": name}, nil)
	}
	now := time.Now().Unix()
	for role, name := range map[string]string{"primary": "ben", "secondary": "chloe"} {
		c.call(http.MethodPost, "/api/v0/events", object{"team": team, "role": role, "user": name, "start": now - 3600,
			"end": now + 36*3600}, nil)
	}
	c.call(http.MethodPost, "/v0/plans", object{"name": "primary-plan", "creator": "demo",
		"description": "whoever is on call", "threshold_window": 900,
		"threshold_count": 10, "aggregation_window": 300, "aggregation_reset": 300, "steps": [][]object{{
			{"role": "oncall-primary", "target": team, "priority": "high", "template": "demo-template", "wait": 300,
				"repeat": 0}}}}, nil)
}

// paged returns the recipients of the messages about a text in the mailbox.
func paged(t *testing.T, about string) (to []string) {
	t.Helper()
	require.Eventually(t, func() bool {
		resp, err := http.Get(home + "/dev/mailbox.json")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		var letters []struct {
			To      string `json:"to"`
			Subject string `json:"subject"`
			Body    string `json:"body"`
		}
		if json.NewDecoder(resp.Body).Decode(&letters) != nil {
			return false
		}
		to = nil
		for _, l := range letters {
			if strings.Contains(l.Subject+l.Body, about) {
				to = append(to, l.To)
			}
		}
		return len(to) > 0
	}, 30*time.Second, 100*time.Millisecond, "a page about %s", about)
	return to
}

const saved = `dialog[open] button[type=submit]:not(:disabled)`

func TestCalendar(t *testing.T) {
	startDev(t)
	api := newClient(t)
	api.setUp()
	b := openTab(t)
	b.logIn("demo", "demo")
	t.Run("zones", func(t *testing.T) { zones(t, b.in(t)) })
	t.Run("override", func(t *testing.T) { override(t, b.in(t), api) })
	t.Run("swap", func(t *testing.T) { swap(t, b.in(t), api) })
	t.Run("drags", func(t *testing.T) { drags(t, b.in(t), api) })
	t.Run("ended", func(t *testing.T) { ended(t, b.in(t), api) })
	t.Run("roster", func(t *testing.T) { roster(t, b.in(t), api) })
	t.Run("schedule", func(t *testing.T) { schedule(t, b.in(t)) })
	t.Run("unavailable", func(t *testing.T) { unavailable(t, b.in(t), api) })
	t.Run("import", func(t *testing.T) { importFile(t, b.in(t), api) })
	t.Run("holidays", func(t *testing.T) { holidays(b.in(t)) })
	t.Run("phone", func(t *testing.T) { phone(t, b.in(t), api) })
}

// override drags over the row of a colleague from now on, and checks that the next page goes to the colleague.
func override(t *testing.T, b *tab, api *client) {
	b.do("the team's page", chromedp.Navigate(home+"/teams"), visible(`.letters a[href="/teams/`+team+`"]`), settled)
	b.shot("20-teams")
	b.do("its calendar", chromedp.Click(`.letters a[href="/teams/`+team+`"]`),
		visible(`.now-role[data-role=primary] .holder`), visible(`.ec-event`), settled)
	b.shot("21-month")
	before := api.primary()
	require.Len(t, before, 1)
	b.do("by week", chromedp.Click(`[data-view=week]`), visible(`.ec-time-grid .ec-event`), settled)
	b.shot("22-week")
	b.do("by person", chromedp.Click(`[data-view=people]`), visible(`.ec-now-indicator`),
		visible(`.ec-timeline .ec-event`), settled)
	b.shot("23-people")
	require.Equal(t, "ben", before[0].User)
	const user, row = "ana", "Ana"
	at := ask[point](b, fmt.Sprintf(`(() => {
		const row = [...document.querySelectorAll(".ec-row-head")].find((e) => e.textContent.trim().startsWith(%q)).getBoundingClientRect();
		return { X: document.querySelector(".ec-now-indicator").getBoundingClientRect().x, Y: row.bottom - 5 };
	})()`, row))
	b.drag("over the colleague's row", point{at.X + 3, at.Y}, point{at.X + 40, at.Y})
	b.do("what would change", visible(`dialog[open] .change-list .added`), visible(saved))
	start := time.Now().Add(-time.Minute).In(teamZone(t, b)).Format("2006-01-02T15:04")
	ask[bool](b, fmt.Sprintf(`(() => { const i = document.querySelector('dialog[open] input[aria-label="Starts"]'); i.value = %q; i.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`, start))
	b.do("from now on", chromedp.WaitNotPresent(saved), visible(saved))
	b.shot("24-override")
	require.Contains(t, b.text(`dialog[open] .change-list`), row)
	require.Equal(t, before, api.primary(), "nothing was saved yet")
	b.do("save", chromedp.Click(saved), chromedp.WaitNotPresent(`dialog[open]`))
	b.until("the panel says who took over",
		fmt.Sprintf(`document.querySelector(".now-role[data-role=primary] .holder-name")?.textContent.startsWith(%q)`,
			row))
	b.shot("25-overridden")
	after := api.primary()
	require.Len(t, after, 1)
	require.Equal(t, user, after[0].User)
	firePlan(t, "primary-plan", "the override holds")
	for _, to := range paged(t, "the override holds") {
		require.Contains(t, contactsOf(t, api, user), to, "only who took over is paged")
	}
	b.do("see a shift", settled, chromedp.Click(`.ec-event.role-primary:not(.past)`), visible(`dialog[open] .facts`))
	b.shot("26-details")
	b.do("close it", chromedp.KeyEvent("\u001b"), chromedp.WaitNotPresent(`dialog[open]`))
}

// swap drops a shift on the shift of a colleague.
func swap(t *testing.T, b *tab, api *client) {
	now := time.Now().Unix()
	ids := map[string]int64{}
	for i, name := range []string{"chloe", "demo"} {
		start := now + int64(3+2*i)*86400
		var id int64
		api.call(http.MethodPost, "/api/v0/events", object{"team": team, "role": "shadow", "user": name,
			"start": start, "end": start + 2*86400}, &id)
		ids[name] = id
	}
	b.do("two shifts", chromedp.Navigate(home+"/teams/"+team), visible(`.ec-timeline .ec-event.role-shadow`),
		settled) // the page restores the last view
	shadow := func(name string) point {
		return ask[point](b, fmt.Sprintf(`(() => { const r = [...document.querySelectorAll(".ec-event.role-shadow")].find((e) => e.textContent.includes(%q)).getBoundingClientRect(); return { X: r.x + 30, Y: r.y + 8 }; })()`, name))
	}
	b.drag("one on the other", shadow("Chloe"), shadow("Demo"))
	b.do("what would change", visible(saved))
	b.until("both sides are shown", `document.querySelectorAll("dialog[open] .change-list .changed").length === 2`)
	b.shot("27-swap")
	b.do("swap them", chromedp.Click(saved), chromedp.WaitNotPresent(`dialog[open]`))
	for name, other := range map[string]string{"chloe": "demo", "demo": "chloe"} {
		var e struct {
			User string `json:"user"`
		}
		api.call(http.MethodGet, fmt.Sprintf("/api/v0/events/%d", ids[name]), nil, &e)
		require.Equal(t, other, e.User)
	}
}

func contactsOf(t *testing.T, api *client, user string) []string {
	t.Helper()
	var u struct {
		Contacts map[string]string `json:"contacts"`
	}
	api.call(http.MethodGet, "/api/v0/users/"+user, nil, &u)
	return slices.Collect(maps.Values(u.Contacts))
}

func teamZone(t *testing.T, b *tab) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(ask[string](b, `document.getElementById("oncall").dataset.teamZone`))
	require.NoError(t, err)
	return zone
}

// roster moves the first person down by dragging, and up again with a button.
func roster(t *testing.T, b *tab, api *client) {
	b.do("rosters", chromedp.Navigate(home+"/teams/"+team+"/rosters"), visible(`.roster .member`), settled)
	names := func() []string {
		return ask[[]string](b, `[...document.querySelector(".roster .members").children].map((li) => li.dataset.key)`)
	}
	before := names()
	require.Greater(t, len(before), 1)
	const announced, clear = `document.getElementById("announce").textContent === "The order was saved"`, `document.getElementById("announce").textContent = ""`
	to := b.middle(`.roster .member:nth-child(2) .grip`)
	b.drag("the first below the second", b.middle(`.roster .member:nth-child(1) .grip`), point{to.X, to.Y + 8})
	want := append([]string{before[1], before[0]}, before[2:]...)
	require.Eventually(t, func() bool {
		return fmt.Sprint(names()) == fmt.Sprint(want) && fmt.Sprint(stored(api, b)) == fmt.Sprint(want)
	}, 10*time.Second, 100*time.Millisecond)
	b.shot("30-roster")
	b.until("the order was saved", announced)
	ask[string](b, clear)
	b.do("and back", chromedp.Click(`.roster .member:nth-child(2) [data-move="-1"]`))
	b.until("the order was saved again", announced)
	require.Equal(t, before, stored(api, b))
}

// stored returns the order of the API.
func stored(api *client, b *tab) []string {
	var r struct {
		Users []struct {
			Name     string `json:"name"`
			Priority int    `json:"roster_priority"`
		} `json:"users"`
	}
	api.call(http.MethodGet, "/api/v0/teams/"+team+"/rosters/"+
		url.PathEscape(ask[string](b, `document.querySelector(".roster").dataset.roster`)), nil, &r)
	names := make([]string, len(r.Users))
	for _, u := range r.Users {
		names[u.Priority] = u.Name
	}
	return names
}

// schedule adds a weekly schedule, checks its preview, populates it, and opens the editor of rotations.
func schedule(t *testing.T, b *tab) {
	b.do("schedules", chromedp.Navigate(home+"/teams/"+team+"/schedules"), settled,
		chromedp.Click(`#oncall .row.spread button:not(.primary)`),
		visible(`dialog[open] select[aria-label=Algorithm]`))
	b.choose(`dialog[open] select[aria-label=Role]`, "manager")
	b.do("see what it would make before it is saved", visible(`dialog[open] .ec-event.role-manager.planned`))
	b.shot("40-schedule")
	b.do("save it", chromedp.Click(`dialog[open] form button.primary`), chromedp.WaitNotPresent(`dialog[open]`),
		visible(`#note:not(.bad)`))
	b.do("populate it again, with a preview", settled, chromedp.Click(`.schedule .row > button`),
		visible(`dialog[open] .ec-event.role-manager`))
	b.shot("41-preview")
	b.do("make it", chromedp.Click(`dialog[open] .dialog-foot button.primary`),
		chromedp.WaitNotPresent(`dialog[open]`), visible(`#note:not(.bad)`), visible(`.schedule`))
	ask[bool](b, `(() => { document.querySelector("#oncall .row.spread button.primary").click(); return true; })()`) // not by a mouse event, because the page may be drawn again meanwhile
	b.do("a new rotation with its result", visible(`dialog[open] .layer`), visible(`dialog[open] .ec-event.planned`))
	b.shot("42-rotation")
	require.Contains(t, b.text(`dialog[open] .layer`), "Ben Okafor")
	b.do("close it", chromedp.KeyEvent("\u001b"), chromedp.WaitNotPresent(`dialog[open]`))
	for i, page := range []string{"coverage", "settings", "audit"} {
		b.do(page, chromedp.Navigate(home+"/teams/"+team+"/"+page), visible(`#oncall:not([aria-busy]) .card`))
		require.NotContains(t, b.text(`#oncall`), "Iris answered")
		b.shot(fmt.Sprintf("%d-%s", 43+i, page))
	}
	b.do("my own", chromedp.Navigate(home+"/me"), visible(`#oncall:not([aria-busy]) .card`))
	b.shot("46-me")
}

// unavailable adds an unavailability of the reader during a shift. Each page with the shift must flag it.
func unavailable(t *testing.T, b *tab, api *client) {
	tomorrow := time.Now().Unix() + 86400
	api.call(http.MethodPost, "/api/v0/events", object{"team": team, "role": "shadow", "user": "demo",
		"start": tomorrow - 4*3600, "end": tomorrow + 8*3600}, nil)
	const banner, mine = `.calendar-card > .flash.bad`, `[...document.querySelectorAll("section.card")].find((c) => c.querySelector("h2").textContent === "When I cannot be on call")`
	b.do("the team's page", chromedp.Navigate(home+"/teams/"+team), visible(`.ec-event.role-shadow`), settled)
	require.True(t, ask[bool](b, fmt.Sprintf(`document.querySelector(%q).hidden`, banner)),
		"no shift is in conflict yet")

	b.do("my own", chromedp.Navigate(home+"/me"), visible(`#oncall:not([aria-busy]) .card`), settled)
	ask[bool](b, fmt.Sprintf(`(() => { [...%s.querySelectorAll("button")].find((e) => e.textContent === "Add…").click(); return true; })()`, mine))
	b.do("the dialog flags it", visible(`dialog[open] input[aria-label=Starts]`), visible(`dialog[open] .conflicts`))
	require.Contains(t, b.text(`dialog[open] .conflicts`), "shadow")
	b.do("tomorrow for four hours", chromedp.Click(`dialog[open] button.primary`),
		chromedp.WaitNotPresent(`dialog[open]`), visible(`#note.bad`))
	require.Contains(t, b.text(`#note`), "You are on call in this time: ")
	require.Contains(t, b.text(`#note`), "shadow of "+team)
	b.do("my shifts flag it", visible(`.shifts .chip.bad`))
	b.shot("47-me-unavailable")

	b.do("the team's page flags it", chromedp.Navigate(home+"/teams/"+team), visible(banner), settled)
	require.Regexp(t, `^On call and unavailable: Demo.* \(shadow, .*\)`, b.text(banner))
	b.do("the shift is flagged", visible(`.ec-event.role-shadow.conflict .mark`))
	b.shot("48-team-unavailable")
	b.do("the coverage page lists it", chromedp.Click(banner+` a`), visible(`#oncall:not([aria-busy]) .card`), settled)
	rows := ask[[]string](b, `[...[...document.querySelectorAll("section.card")].find((c) => c.querySelector("h2").textContent === "On call and unavailable").querySelectorAll("tbody tr")].map((e) => e.textContent)`)
	// The schedule that was added before may have made the same person manager in this time; that is a conflict of its
	// own.
	rows = slices.DeleteFunc(rows, func(row string) bool { return !strings.Contains(row, "shadow") })
	require.Len(t, rows, 1)
	require.Regexp(t, `^Demo.*shadow.*demo$`, rows[0])
	b.shot("49-coverage-unavailable")

	b.do("my own", chromedp.Navigate(home+"/me"), visible(`#oncall:not([aria-busy]) .card`), settled)
	ask[bool](b, mine+`.querySelector('button[aria-label^="Remove: "]').click() === undefined`)
	b.until("it is removed", mine+`.textContent.includes("Nothing entered: schedules may choose you at any time.")`)
	b.do("nothing is flagged", chromedp.Navigate(home+"/teams/"+team), visible(`.ec-event.role-shadow`), settled)
	require.True(t, ask[bool](b, fmt.Sprintf(`document.querySelector(%q).hidden`, banner)))
}

// importFile imports an iCalendar text. Nothing may be stored before the preview was seen.
func importFile(t *testing.T, b *tab, api *client) {
	at := time.Now().UTC().AddDate(0, 0, 40)
	text := fmt.Sprintf("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\nBEGIN:VEVENT\nUID:imported-1\nDTSTAMP:%[1]s\nDTSTART:%[1]s\nDTEND:%[2]s\nSUMMARY:chloe\nEND:VEVENT\n"+
		"BEGIN:VEVENT\nUID:imported-2\nDTSTAMP:%[1]s\nDTSTART:%[1]s\nDTEND:%[2]s\nSUMMARY:Nobody Known\nEND:VEVENT\nEND:VCALENDAR\n", at.Format("20060102T150405Z"), at.Add(8*time.Hour).Format("20060102T150405Z"))
	imported := func() (found []shift) {
		for _, s := range api.of("manager") {
			if s.Start == at.Unix() {
				found = append(found, s)
			}
		}
		return found
	}
	b.do("schedules", chromedp.Navigate(home+"/teams/"+team+"/schedules"),
		visible(`#oncall:not([aria-busy]) .row.spread button`), settled)
	ask[bool](b, `[...document.querySelectorAll("#oncall .row.spread button")].find((e) => e.textContent === "Import a calendar…").click() === undefined`)
	b.do("a form", visible(`dialog[open] textarea`))
	b.choose(`dialog[open] select`, "manager")
	ask[bool](b, fmt.Sprintf(`(() => { const t = document.querySelector("dialog[open] textarea"); t.value = %q; return t.dispatchEvent(new Event("input", { bubbles: true })); })()`, text))
	b.do("what would change", visible(`dialog[open] .change-list .added`),
		visible(`dialog[open] .dialog-foot button.primary:not(:disabled)`))
	require.Contains(t, b.text(`dialog[open] .flash:not([hidden])`), "Nobody Known")
	require.Empty(t, imported(), "nothing was stored yet")
	b.shot("49-import")
	b.do("import", chromedp.Click(`dialog[open] .dialog-foot button.primary`), chromedp.WaitNotPresent(`dialog[open]`),
		visible(`#note:not(.bad)`))
	all := imported()
	require.Len(t, all, 1)
	require.Equal(t, "chloe", all[0].User)
}

// phone takes the pager on a small screen.
func phone(t *testing.T, b *tab, api *client) {
	b.do("on a phone", chromedp.EmulateViewport(390, 844), chromedp.Navigate(home+"/teams/"+team),
		visible(`.now-role .holder`), settled)
	require.LessOrEqual(t, ask[int](b, `document.documentElement.scrollWidth`), 390, "nothing to scroll sideways")
	b.shot("50-phone")
	b.do("take the pager", chromedp.Click(`button.take`), visible(saved))
	b.shot("51-phone-take")
	b.do("yes", chromedp.Click(saved), chromedp.WaitNotPresent(`dialog[open]`),
		visible(`.now-role[data-role=primary] .chip`))
	b.shot("52-phone-taken")
	now := api.primary()
	require.Len(t, now, 1)
	require.Equal(t, "demo", now[0].User)
	firePlan(t, "primary-plan", "the pager was taken")
	for _, to := range paged(t, "the pager was taken") {
		require.Contains(t, contactsOf(t, api, "demo"), to)
	}
}

// zones compares the wall-clock arithmetic of the page with that of Go, in several zones and around clock changes.
func zones(t *testing.T, b *tab) {
	b.do("a page with the scripts", chromedp.Navigate(home+"/teams"), visible(`#oncall:not([aria-busy])`))
	type question struct {
		Zone, Wall string
		At         int64
	}
	var all []question
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "America/Sao_Paulo"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for range 200 {
			at := time.Unix(1262304000+r.Int64N(20*365*86400), 0).In(zone)
			all = append(all, question{name, at.Format("2006-01-02T15:04:05"), at.Unix()})
		}
		for at := time.Date(2025, 1, 1, 0, 0, 0, 0, zone); at.Year() < 2027; at = at.Add(30 * time.Minute) {
			if _, was := at.Add(-3 * time.Hour).Zone(); was != offset(at) || was != offset(at.Add(3*time.Hour)) {
				all = append(all, question{name, at.Format("2006-01-02T15:04:05"), at.Unix()})
			}
		}
	}
	asked, err := json.Marshal(all)
	require.NoError(t, err)
	answers := ask[[]question](b, fmt.Sprintf(`(async () => {
		const z = await import(document.querySelector("script[type=module]").src.replace(/[^/]*$/, "zone.js"));
		return %s.map((q) => ({ Zone: q.Zone, Wall: z.wall(q.At, q.Zone), At: z.instant(q.Wall, q.Zone) }));
	})()`, asked))
	require.Len(t, answers, len(all))
	for i, q := range all {
		require.Equal(t, q.Wall, answers[i].Wall, "%s at %d", q.Zone, q.At)
		first := q.At
		if earlier := time.Unix(q.At, 0).In(location(t, q.Zone)); earlier.Add(-time.Hour).Format("2006-01-02T15:04:05") == q.Wall {
			first -= 3600 // a local time that occurs twice means the first one
		} else if earlier.Add(-30*time.Minute).Format("2006-01-02T15:04:05") == q.Wall {
			first -= 1800
		}
		require.Equal(t, first, answers[i].At, "%s in %s", q.Wall, q.Zone)
	}
	require.Equal(t, 1772962200, ask[int](b,
		`import(document.querySelector("script[type=module]").src.replace(/[^/]*$/, "zone.js")).then((z) => z.instant("2026-03-08T02:30:00", "US/Pacific"))`),
		"a skipped time is taken with the summer offset")
}

func offset(at time.Time) int {
	_, o := at.Zone()
	return o
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

// holidays subscribes the team to the holidays of a country, and then chooses a part of it.
func holidays(b *tab) {
	main := func(text string) string {
		return `[...document.querySelectorAll("main button")].find((e) => e.textContent.startsWith("` + text + `"))?.click() === undefined`
	}
	const row = `[...document.querySelectorAll(".card li")].some((e) => e.textContent.includes(%q) && e.textContent.includes("up to date"))`
	b.do("the settings", chromedp.Navigate(home+"/teams/"+team+"/settings"), visible(`#oncall:not([aria-busy])`), settled)
	ask[bool](b, main("Subscribe"))
	b.do("the dialog", visible(`dialog[open] input[name=url]`))
	b.choose("dialog[open] select[name=kind]", "country")
	b.do("no address", chromedp.WaitNotVisible(`dialog[open] input[name=url]`), visible(`dialog[open] select[name=country]`))
	b.choose("dialog[open] select[name=country]", "CH")
	b.shot("73-holidays-of-a-country")
	b.do("subscribe", chromedp.Click(`dialog[open] button.primary`), chromedp.WaitNotPresent(`dialog`))
	b.until("it is read", fmt.Sprintf(row, "Holidays of Switzerland, all cantons"))
	b.until("the days are shown", `[...document.querySelectorAll(".card")].some((c) => c.textContent.startsWith("Holidays") && c.textContent.includes("Neujahrstag"))`)
	ask[bool](b, main("Change…"))
	b.do("the dialog", visible(`dialog[open] select[name=country]`))
	b.choose("dialog[open] select[name=country]", "CH-ZH")
	b.do("save", chromedp.Click(`dialog[open] button.primary`), chromedp.WaitNotPresent(`dialog`))
	b.until("it is read", fmt.Sprintf(row, "Holidays of Switzerland, ZH"))
}
