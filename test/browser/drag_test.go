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

type shift struct {
	ID    int64  `json:"id"`
	User  string `json:"user"`
	Role  string `json:"role"`
	Note  string `json:"note"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
}

// of returns the stored shifts of a role of the team.
func (c *client) of(role string) (found []shift) {
	c.t.Helper()
	c.call(http.MethodGet, "/api/v0/events?team="+team+"&role="+role, nil, &found)
	return found
}

// noon returns the middle of a day in the row of a person of the people view. days counts from today.
func (b *tab) noon(row string, days int) point {
	b.t.Helper()
	at := time.Now().In(teamZone(b.t, b)).AddDate(0, 0, days).Format("2006-01-02")
	return ask[point](b, fmt.Sprintf(`(() => {
		const row = [...document.querySelectorAll(".ec-row-head")].find((e) => e.textContent.trim().startsWith(%q)).getBoundingClientRect();
		const day = document.querySelector('.ec-header time[datetime=%q]').closest(".ec-col-head").getBoundingClientRect();
		return { X: day.x + day.width / 2, Y: row.y + row.height / 2 };
	})()`, row, at))
}

// drags adds a shift, moves it, makes it longer and gives it to somebody else, with the mouse. It checks the stored
// shift each time.
func drags(t *testing.T, b *tab, api *client) {
	b.do("by person", chromedp.Navigate(home+"/teams/"+team), visible(`.ec-timeline .ec-event`), settled)
	const event = `.ec-event.role-manager`
	save := func(what string) {
		ask[string](b, `document.getElementById("announce").textContent = ""`)
		b.do(what, visible(saved), chromedp.Click(saved), chromedp.WaitNotPresent(`dialog[open]`))
		b.until("the calendar shows it",
			`document.getElementById("announce").textContent === "The calendar was reloaded"`)
		b.do(what, visible(event))
	}
	from := b.noon("Ana", 2)
	b.drag("over an empty stretch", from, b.noon("Ana", 3))
	b.do("a form", visible(`dialog[open] select[aria-label=Role]`))
	b.choose(`dialog[open] select[aria-label=Role]`, "manager")
	b.do("what would change", visible(`dialog[open] .change-list .added .role-manager`))
	require.Empty(t, api.of("manager"), "nothing was saved yet")
	save("create")
	all := api.of("manager")
	require.Len(t, all, 1)
	made := all[0]
	require.Equal(t, "ana", made.User)
	day := time.Now().In(teamZone(t, b)).AddDate(0, 0, 2)
	require.Equal(t, day.Format(time.DateOnly), time.Unix(made.Start, 0).In(day.Location()).Format(time.DateOnly))

	moves := func(what string, from, to point, want func(is shift) bool) {
		before := api.of("manager")[0]
		b.drag(what, from, to)
		b.do("what would change", visible(`dialog[open] .change-list .changed`))
		require.Equal(t, before, api.of("manager")[0], "nothing was saved yet")
		b.shot("28-" + strings.ReplaceAll(what, " ", "-"))
		save(what)
		is := api.of("manager")
		require.Len(t, is, 1)
		require.Equal(t, before.ID, is[0].ID, what)
		require.True(t, want(is[0]), "%s: %+v became %+v", what, before, is[0])
	}
	onto := func(days int, row string) point {
		c, a, z := b.middle(event), b.noon("Ana", 2), b.noon(row, 2+days)
		return point{c.X + z.X - a.X, c.Y + z.Y - a.Y}
	}
	moves("a day later", b.middle(event), onto(1, "Ana"), func(is shift) bool {
		return is.User == "ana" && is.Start == made.Start+86400 && is.End == made.End+86400
	})
	moves("to somebody else", b.middle(event), onto(0, "Demo"), func(is shift) bool {
		return is.User == "demo" && is.Start == made.Start+86400 && is.End == made.End+86400
	})
	edge := ask[point](b, `(() => { const r = document.querySelector(".ec-event.role-manager").getBoundingClientRect(); return { X: r.right - 2, Y: r.y + r.height / 2 }; })()`)
	moves("a day longer", edge, point{edge.X + b.noon("Ana", 3).X - b.noon("Ana", 2).X, edge.Y}, func(is shift) bool {
		return is.User == "demo" && is.Start == made.Start+86400 && is.End == made.End+2*86400
	})
	longer := api.of("manager")[0]
	undone := func(what string, undo func()) {
		undo()
		b.do(what, chromedp.WaitNotPresent(`.undo-bar`))
		b.until("the calendar shows it", `document.getElementById("announce").textContent === "Undone"`)
	}
	require.Contains(t, b.text(`.undo-bar`), "Changed the shift of Demo")
	undone("press Undo", func() { b.do("undo", chromedp.Click(`.undo-bar button`)) })
	require.Equal(t, longer.End-86400, api.of("manager")[0].End, "the end is as it was before")
	moves("two days later", b.middle(event), onto(2, "Demo"),
		func(is shift) bool { return is.Start == longer.Start+2*86400 })
	require.Contains(t, b.text(`.undo-bar`), "Moved the shift of Demo")
	undone("press Ctrl+Z", func() {
		ask[bool](b, `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "z", ctrlKey: true, bubbles: true }))`)
	})
	require.Equal(t, longer.Start, api.of("manager")[0].Start)
	moves("a day later again", b.middle(event), onto(1, "Demo"),
		func(is shift) bool { return is.Start == longer.Start+86400 })
	api.call(http.MethodPut, fmt.Sprintf("/api/v0/events/%d", longer.ID), object{"note": "by somebody else"}, nil)
	b.do("an undo of something that somebody changed", chromedp.Click(`.undo-bar button`))
	b.until("is refused", `document.querySelector(".undo-bar").textContent.includes("somebody changed these shifts")`)
	b.shot("29-undo-refused")
	require.Equal(t, longer.Start+86400, api.of("manager")[0].Start)
	before := api.of("manager")
	b.drag("and back", b.middle(event), onto(-1, "Ana"))
	b.do("cancel", visible(saved), chromedp.KeyEvent("\u001b"), chromedp.WaitNotPresent(`dialog[open]`))
	require.Equal(t, before, api.of("manager"))
	b.until("the shift is where it was",
		`document.querySelectorAll(".ec-event.role-manager").length === 1 && !document.querySelector(".ec-preview")`)
}

// ended ends the session during an edit, and saves the edit after a log-in in another tab.
func ended(t *testing.T, b *tab, api *client) {
	const note, open = `dialog[open] input[aria-label=Note]`, `dialog[open] form`
	b.do("a form", chromedp.Navigate(home+"/teams/"+team), settled, chromedp.Click(`.toolbar .add`), visible(note))
	b.choose(`dialog[open] select[aria-label=Role]`, "secondary")
	b.choose(`dialog[open] select[aria-label=Person]`, "ana")
	b.do("something entered", chromedp.SendKeys(note, "with care"), chromedp.WaitNotPresent(saved), visible(saved))
	b.do("Escape asks", chromedp.KeyEvent("\u001b"), visible(`dialog[open] .dialog-body > .flash:not(.bad)`),
		visible(open))
	b.do("a press outside it", chromedp.MouseEvent(chromedp.MousePressed, 4, 4),
		chromedp.MouseEvent(chromedp.MouseReleased, 4, 4), visible(open))
	b.endSession()
	b.do("the session is over", chromedp.Click(saved),
		visible(`dialog[open] .flash.bad:not([hidden]) a[target=_blank]`))
	require.Contains(t, b.text(`dialog[open] .flash.bad:not([hidden])`), "Your session has ended")
	b.shot("29-session-ended")
	require.True(t, ask[bool](b, `fetch("/login", { method: "POST", body: new URLSearchParams({ username: "demo", password: "demo" }) }).then((r) => r.ok)`))
	b.do("log in and save", chromedp.Click(saved), chromedp.WaitNotPresent(`dialog[open]`))
	var kept []shift
	for _, s := range api.of("secondary") {
		if s.Note == "with care" && s.User == "ana" {
			kept = append(kept, s)
		}
	}
	require.Len(t, kept, 1, "it was saved once")
}
