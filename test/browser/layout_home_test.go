//go:build browser

package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// homeLayout adds hostile data with api and returns pages for TestLayout.
func homeLayout(api *client) []layoutPage {
	hostile := api.open(object{"title": "<b>" + strings.Repeat("Unbroken_", 55), "severity": "critical",
		"summary": odd + " " + unbroken,
		"labels":  object{unbroken: unbroken, "rtl": odd}, "context": object{
			"deep": deep(40), "numbers": []float64{-1, -1e300, 1e300,
				123456789012345678}, "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
			"emoji": strings.Repeat("🔥", 200),
			"links": []object{{"url": "https://example.com/" + unbroken, "text": odd + unbroken},
				{"url": "javascript:alert(1)", "text": "evil"}},
			"images": []object{{"url": "https://example.com/1.png", "alt": unbroken}}}})
	at := fmt.Sprintf("/v1/incidents/%d", hostile)
	for i := range 40 {
		api.call(http.MethodPost, at+"/comments", object{"content": fmt.Sprintf("%d %s %s", i, odd, unbroken)}, nil)
	}
	resolved := api.open(object{"title": "resolved " + odd})
	api.call(http.MethodPost, fmt.Sprintf("/v1/incidents/%d/resolve", resolved), object{}, nil)
	return []layoutPage{
		{"home", "/", `#on-call-now`}, {"incident-hostile", fmt.Sprintf("/incidents/%d", hostile), `.earlier`},
		{"incident-resolved", fmt.Sprintf("/incidents/%d", resolved), `.chip.resolved`},
	}
}

// deep returns an object in an object, n times.
func deep(n int) object {
	if n == 0 {
		return object{"end": unbroken}
	}
	return object{"level " + number(int64(n)): deep(n - 1)}
}

// open opens an incident of the demo plan and returns its number.
func (c *client) open(about object) int64 {
	c.t.Helper()
	about["plan"], about["application"] = "demo-plan", "demo"
	var made struct {
		ID int64 `json:"id"`
	}
	c.call(http.MethodPost, "/v1/incidents", about, &made)
	return made.ID
}

// A person is woken, acknowledges on a phone, and snoozes after the session has ended.
func TestIncidentOnAPhone(t *testing.T) {
	startDev(t)
	api := newClient(t)
	id := api.open(object{"title": "Disk of db-3 is full", "severity": "critical", "labels": object{"host": "db-3"},
		"context": object{"links": []object{{"url": "https://wiki.example.com/disk", "text": "Runbook"}}}})
	at := fmt.Sprintf("%s/incidents/%d", home, id)
	b := openTab(t)
	b.do("a phone", chromedp.EmulateViewport(360, 740))
	b.logIn("demo", "demo")
	b.do("home", chromedp.Navigate(home+"/"),
		visible(chromedp.CSS(fmt.Sprintf(`form[action="/incidents/%d/acknowledge"] button`, id))))
	b.shot("130-home-phone")
	later := api.open(object{"title": "Disk of db-4 is full", "severity": "critical"})
	b.until("a new incident appears without a reload",
		fmt.Sprintf(`document.querySelector("%s button") !== null`, rowOf(later)))
	require.Empty(t, ask[[]string](b, overflowing))
	b.do("the incident", chromedp.Navigate(at), visible(`.next time[data-as=until]`))
	b.until("it counts down", `/^in \d+ s$/.test(document.querySelector(".next time").textContent)`)
	b.shot("131-incident-phone")
	require.Empty(t, ask[[]string](b, overflowing))
	require.Equal(t, "db-3", b.text(`.labels dd`))
	bar := ask[map[string]float64](b, `(() => { const r = document.querySelector(".actions button.primary").getBoundingClientRect(); return { height: r.height, bottom: r.bottom, window: innerHeight }; })()`)
	require.GreaterOrEqual(t, bar["height"], 48.0)
	require.LessOrEqual(t, bar["bottom"], bar["window"], "the button can be pressed without scrolling")
	b.do("acknowledge", chromedp.Click(`.actions button.primary`), visible(`.chip.acknowledged`))
	require.Equal(t, "demo", api.owner(id))

	until := time.Now().UTC().Add(48 * time.Hour).Format("2006-01-02T15:04")
	b.do("more", chromedp.Click(`.actions a.button`), chromedp.Click(`#more summary`),
		visible(`#more input[name=until]`))
	ask[bool](b, fmt.Sprintf(`(() => { document.querySelector("#more input[name=until]").value = %q; return true; })()`, until))
	b.shot("132-snooze")
	b.freeze()
	b.endSession()
	b.do("snooze", chromedp.Click(`#more button[value=at]`), visible(`button.large`))
	b.shot("133-snooze-kept")
	require.True(t, ask[bool](b, `fetch("/login", { method: "POST", body: new URLSearchParams({ username: "demo", password: "demo" }) }).then((r) => r.ok)`))
	b.do("send it again", chromedp.Click(`button.large`), visible(`.chip.snoozed`))

	b.do("resolve", chromedp.Click(`.actions form[action$=resolve] button`), visible(`#undo button`))
	b.shot("134-undo")
	b.do("undo", chromedp.Click(`#undo button`), chromedp.WaitNotPresent(`#undo`))
	require.NotEqual(t, "resolved", api.state(id))
}

func (c *client) state(id int64) string {
	c.t.Helper()
	var i struct {
		State string `json:"state"`
	}
	c.call(http.MethodGet, fmt.Sprintf("/v1/incidents/%d", id), nil, &i)
	return i.State
}
