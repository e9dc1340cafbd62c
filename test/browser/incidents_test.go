//go:build browser

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// number waits for an incident and returns its number.
func (c *client) number(about string) (id int64) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		var found []struct {
			ID      int64           `json:"id"`
			Context json.RawMessage `json:"context"`
		}
		c.call(http.MethodGet, "/v0/incidents?fields=id&fields=context&limit=50", nil, &found)
		for _, i := range found {
			if strings.Contains(string(i.Context), about) {
				id = i.ID
			}
		}
		return id != 0
	}, 10*time.Second, 50*time.Millisecond, about)
	return id
}

// acknowledge acknowledges an incident in the name of owner.
func (c *client) acknowledge(id int64, owner string) {
	c.t.Helper()
	c.call(http.MethodPost, fmt.Sprintf("/v0/incidents/%d", id), object{"owner": owner}, nil)
}

// freeze stops the page from refreshing itself, so that it shows an old state: a hidden tab has no stream.
func (b *tab) freeze() {
	b.t.Helper()
	ask[bool](b, `(() => { XMLHttpRequest.prototype.send = () => {}; Object.defineProperty(document, "hidden", { get: () => true });
		document.dispatchEvent(new Event("visibilitychange")); return true; })()`)
}

// endSession ends the session at the server, as an administrator or a log-out in another tab does, and in the browser.
func (b *tab) endSession() {
	b.t.Helper()
	ask[bool](b, `fetch("/logout/", { method: "POST" }).then((r) => r.ok)`)
	ctx, cancel := withTimeout(b)
	defer cancel()
	_, err := chromedp.Call(ctx, network.ClearBrowserCookies, cdp.Empty{})
	require.NoError(b.t, err)
}

func TestIncidentPages(t *testing.T) {
	startDev(t)
	api := newClient(t)
	b := openTab(t)
	b.logIn("demo", "demo")
	t.Run("live", func(t *testing.T) { liveRows(t, b.in(t), api) })
	t.Run("takeover", func(t *testing.T) { takeOver(t, b.in(t), api) })
	t.Run("session", func(t *testing.T) { lostAcknowledgement(t, b.in(t), api) })
	t.Run("bulk", func(t *testing.T) { bulkAction(t, b.in(t), api) })
	t.Run("keys", func(t *testing.T) { keyboard(t, b.in(t), api) })
	t.Run("phone", func(t *testing.T) { phoneStory(t, b.in(t), api) })
	t.Run("by hand", func(t *testing.T) { openByHand(t, b.in(t)) })
	t.Run("comment", func(t *testing.T) { keptComment(t, b.in(t), api) })
	t.Run("offline", func(t *testing.T) { pressOffline(t, b.in(t), api) })
	t.Run("suggestions", func(t *testing.T) { suggestPeople(t, b.in(t), api) })
	t.Run("team", func(t *testing.T) { deleteTeam(t, b.in(t), api) })
}

// liveRows checks that the row with the focus does not move while other incidents come and change.
func liveRows(t *testing.T, b *tab, api *client) {
	fire(t, "first of all")
	fire(t, "second of all")
	first, second := api.number("first of all"), api.number("second of all")
	row := fmt.Sprintf(`document.getElementById("incident-%d")`, first)
	b.do("the list", chromedp.Navigate(home+"/incidents"),
		visible(chromedp.CSS(fmt.Sprintf(`#incident-%d button`, first))))
	top := ask[float64](b, fmt.Sprintf(`(() => { const r = %s; r.mark = true; r.querySelector("button").focus(); return r.getBoundingClientRect().top; })()`, row))
	fire(t, "third of all")
	third := api.number("third of all")
	b.until("a button announces the new incident", `document.querySelector("#news button")?.textContent === "1 new"`)
	b.shot("60-news")
	require.True(t, ask[bool](b, fmt.Sprintf(`%s.mark && document.activeElement === %[1]s.querySelector("button") && !document.getElementById("incident-%d")`, row, third)),
		"the row is the same, has the focus, and no other row came between")
	api.acknowledge(second, "ben")
	b.until("a row changes in place", fmt.Sprintf(`document.querySelector("#incident-%d .chip").textContent.includes("ben")`, second))
	require.InDelta(t, top, ask[float64](b, row+`.getBoundingClientRect().top`), 1, "nothing moved")
	api.call(http.MethodPost, fmt.Sprintf("/v0/incidents/%d", second), object{"owner": "ben"}, nil)
	b.do("show the new one", chromedp.Click(`#news button`), visible(chromedp.CSS(fmt.Sprintf(`#incident-%d`, third))))
	require.Equal(t, fmt.Sprintf("incident-%d", third), ask[string](b, `document.querySelector("#rows tr").id`),
		"the newest is the first")
	require.True(t, ask[bool](b, row+".mark"))

	b.do("an incident", chromedp.Navigate(fmt.Sprintf("%s/incidents/%d", home, first)), visible(`#comment textarea`),
		chromedp.SendKeys(`#comment textarea`, "I am loo"))
	at := ask[float64](b, `document.querySelector("#comment textarea").getBoundingClientRect().top`)
	for i := range 3 {
		api.call(http.MethodPost, fmt.Sprintf("/v0/incidents/%d/comments", first),
			object{"author": "demo", "content": fmt.Sprintf("line %d", i)}, nil)
	}
	b.until("comments of others appear", `document.querySelectorAll(".timeline .comment").length === 3`)
	require.True(t, ask[bool](b, `document.activeElement === document.querySelector("#comment textarea") && document.activeElement.value === "I am loo"`))
	require.InDelta(t, at, ask[float64](b, `document.querySelector("#comment textarea").getBoundingClientRect().top`),
		60, "the field moves by less than 60 pixels")
	before := ask[string](b, `[...document.querySelectorAll(".acts button")].map((e) => e.textContent).join()`)
	api.acknowledge(first, "ben")
	b.until("acknowledged", `document.querySelector(".head .chip").textContent.includes("ben")`)
	require.Equal(t, before, ask[string](b,
		`[...document.querySelectorAll(".acts button")].map((e) => e.textContent).join()`),
		"no button takes another's place")
}

func takeOver(t *testing.T, b *tab, api *client) {
	fire(t, "taken by two")
	id := api.number("taken by two")
	b.do("an incident", chromedp.Navigate(fmt.Sprintf("%s/incidents/%d", home, id)),
		visible(`form[action$=acknowledge] button:not(:disabled)`))
	b.freeze()
	api.acknowledge(id, "ben")
	b.do("acknowledge", chromedp.Click(`form[action$=acknowledge] button`),
		visible(`form[action$=acknowledge] a.button`))
	require.Contains(t, b.text(`h1`), "ben has acknowledged this incident")
	b.shot("61-take-over")
	require.Equal(t, "ben", api.owner(id))
	b.do("take over", chromedp.Click(`button.primary`), visible(`.timeline`))
	require.Equal(t, "demo", api.owner(id))
}

func (c *client) owner(id int64) string {
	c.t.Helper()
	var i struct {
		Owner *string `json:"owner"`
	}
	c.call(http.MethodGet, fmt.Sprintf("/v0/incidents/%d", id), nil, &i)
	if i.Owner == nil {
		return ""
	}
	return *i.Owner
}

// lostAcknowledgement presses Acknowledge after the session has ended.
func lostAcknowledgement(t *testing.T, b *tab, api *client) {
	fire(t, "late at night")
	id := api.number("late at night")
	b.do("the list", chromedp.Navigate(home+"/incidents"),
		visible(chromedp.CSS(fmt.Sprintf(`#incident-%d button`, id))))
	b.freeze()
	b.endSession()
	b.do("acknowledge", chromedp.Click(chromedp.CSS(fmt.Sprintf(`#incident-%d button`, id))),
		visible(`input[name=password]`))
	require.Contains(t, b.text(`.login .flash`), fmt.Sprintf("incident %d was not changed", id))
	b.shot("62-session-ended")
	require.Empty(t, api.owner(id))
	b.do("log in", chromedp.SendKeys(`input[name=username]`, "demo"), chromedp.SendKeys(`input[name=password]`, "demo"),
		chromedp.Click(`button.primary`), visible(`#offer button`))
	b.shot("63-offered-again")
	require.Empty(t, api.owner(id), "a log-in acknowledges nothing")
	b.do("acknowledge", chromedp.Click(`#offer button`), visible(`.chip.acknowledged`))
	require.Equal(t, "demo", api.owner(id))
}

// keptComment ends the session before a comment is saved, and while a comment is written.
func keptComment(t *testing.T, b *tab, api *client) {
	fire(t, "needs a comment")
	page := fmt.Sprintf("%s/incidents/%d", home, api.number("needs a comment"))
	const text = "I replaced the disk,\nand wait."
	b.do("a comment", chromedp.Navigate(page), visible(`#comment textarea`),
		chromedp.SendKeys(`#comment textarea`, text))
	b.freeze()
	b.endSession()
	b.do("add it", chromedp.Click(`#comment button`), visible(`a[target=_blank]`))
	require.Equal(t, text, ask[string](b, `document.querySelector("textarea").value`))
	b.shot("64-comment-kept")
	require.True(t, ask[bool](b, `fetch("/login", { method: "POST", body: new URLSearchParams({ username: "demo", password: "demo" }) }).then((r) => r.ok)`))
	b.do("add it again", chromedp.Click(`button.large`), visible(`.timeline .comment`))
	require.Contains(t, b.text(`.timeline .comment`), "and wait.")
	require.Empty(t, ask[string](b, `document.querySelector("#comment textarea").value`), "what was saved is no draft")

	b.do("another one", chromedp.SendKeys(`#comment textarea`, "half a thou"))
	b.endSession()
	b.do("the page asks for a log-in", visible(`input[name=password]`))
	b.do("log in", chromedp.SendKeys(`input[name=username]`, "demo"), chromedp.SendKeys(`input[name=password]`, "demo"),
		chromedp.Click(`button.primary`), visible(`#comment textarea`))
	require.Equal(t, "half a thou", ask[string](b, `document.querySelector("#comment textarea").value`))
}

// pressOffline presses Resolve without a connection, and again with one.
func pressOffline(t *testing.T, b *tab, api *client) {
	fire(t, "in a tunnel")
	page := fmt.Sprintf("%s/incidents/%d", home, api.number("in a tunnel"))
	const resolve = `form[action$="/resolve"] button`
	b.do("an incident", chromedp.Navigate(page), visible(resolve+`:not(:disabled)`))
	b.connect(false)
	b.do("resolve", chromedp.Click(resolve), visible(`.flash.offline[role=alert]`))
	b.until("the page says that nothing was changed",
		`document.querySelector(".flash.offline").textContent.includes("Nothing was changed")`)
	require.Equal(t, page, ask[string](b, `location.href`))
	require.False(t, ask[bool](b, `document.querySelector('form[action$="/resolve"] button').matches("[aria-busy], :disabled")`))
	b.shot("70-offline")
	b.connect(true)
	b.do("resolve again", chromedp.Click(resolve), visible(`#undo`))
}

// suggestPeople types a part of a name: the form suggests the person, and pages the person by the full name.
func suggestPeople(t *testing.T, b *tab, api *client) {
	fire(t, "needs more people")
	const name = `form[action$="/page"] input[name=name]`
	b.do("an incident", chromedp.Navigate(fmt.Sprintf("%s/incidents/%d", home, api.number("needs more people"))),
		visible(`#more`))
	ask[bool](b, `document.querySelector('form[action$="/page"]').closest("details").open = true`)
	b.do("type a name", visible(name), chromedp.SendKeys(name, "be"))
	b.until("the person is suggested", `document.querySelector("#others option[value=ben]") !== null`)
	full := ask[string](b, `document.querySelector("#others option[value=ben]").textContent`)
	ask[bool](b, `document.querySelector('form[action$="/page"] input[name=name]').value = "", true`)
	b.do("page by the full name", chromedp.SendKeys(name, full+"\r"))
	b.until("the person is paged", `document.querySelector(".timeline").textContent.includes("paged also ben")`)
}

// connect ends or restores the connection of the tab.
func (b *tab) connect(on bool) {
	b.t.Helper()
	ctx, cancel := withTimeout(b)
	defer cancel()
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(b.t, err)
	_, err = chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: !on, DownloadThroughput: -1, UploadThroughput: -1}}})
	require.NoError(b.t, err)
}

// deleteTeam deletes a team that a service uses: the page names the service and deletes the team only when asked again.
func deleteTeam(t *testing.T, b *tab, api *client) {
	api.call(http.MethodPost, "/api/v0/services", map[string]any{"name": "mailer"}, nil)
	api.call(http.MethodPost, "/api/v0/teams", map[string]any{"name": "spare", "scheduling_timezone": "UTC"}, nil)
	api.call(http.MethodPost, "/api/v0/teams/spare/services", map[string]any{"name": "mailer"}, nil)
	const sure = `dialog[open] .dialog-foot button.danger`
	b.do("the settings", chromedp.Navigate(home+"/teams/spare/settings"), visible(`.card button.danger`), settled)
	b.do("delete", chromedp.Click(`.card button.danger`), visible(sure), chromedp.Click(sure))
	b.until("the page names what uses the team",
		`document.querySelector("dialog[open]")?.innerText.includes("service mailer")`)
	require.Equal(t, "Delete it anyway", b.text(sure))
	b.shot("65-team-in-use")
	api.call(http.MethodGet, "/api/v0/teams/spare", nil, nil)
	b.do("delete it anyway", chromedp.Click(sure))
	b.do("the page of all teams", visible(`#oncall[data-page=teams]`))
	require.Equal(t, http.StatusNotFound, ask[int](b, `fetch("/api/v0/teams/spare").then((r) => r.status)`))
}
