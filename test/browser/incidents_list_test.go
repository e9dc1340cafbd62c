//go:build browser

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// rowOf selects the row of an incident.
func rowOf(id int64) string { return fmt.Sprintf("#incident-%d", id) }

// bulkAction ticks two incidents. The session ends before the button is pressed: the form is kept, and sent after the
// log-in.
func bulkAction(t *testing.T, b *tab, api *client) {
	fire(t, "ticked first")
	fire(t, "ticked second")
	first, second := api.number("ticked first"), api.number("ticked second")
	b.do("the list", chromedp.Navigate(home+"/incidents"), visible(chromedp.CSS(rowOf(second)+" .title a")))
	require.Equal(t, "none", ask[string](b, `getComputedStyle(document.getElementById("bulk")).display`),
		"nothing is ticked")
	b.do("tick", chromedp.Click(chromedp.CSS(rowOf(first)+" .tick input")),
		chromedp.Click(chromedp.CSS(rowOf(second)+" .tick input")), visible(chromedp.CSS("#bulk .ticked")))
	require.Equal(t, "2 ticked:", b.text("#bulk .ticked"))
	b.do("all that match", chromedp.Click(chromedp.CSS("#bulk input[name=all]")))
	require.Equal(t, "All that match:", b.text("#bulk .ticked"))
	b.do("no row is ticked, so a key changes one row only", chromedp.Click(chromedp.CSS(rowOf(first)+" .tick input")),
		chromedp.Click(chromedp.CSS(rowOf(second)+" .tick input")))
	require.False(t, ask[bool](b, `document.querySelector("#bulk input[name=all]").checked`))
	b.do("tick again", chromedp.Click(chromedp.CSS(rowOf(first)+" .tick input")),
		chromedp.Click(chromedp.CSS(rowOf(second)+" .tick input")), visible(chromedp.CSS("#bulk .ticked")))
	require.Equal(t, "2 ticked:", b.text("#bulk .ticked"))
	api.acknowledge(second, "ben")
	b.until("the row changes and stays ticked",
		fmt.Sprintf(`document.querySelector("%s .chip.acknowledged") && document.querySelector("%[1]s input[name=id]").checked`, rowOf(second)))
	b.shot("66-ticked")
	b.freeze()
	b.endSession()
	b.do("acknowledge", chromedp.Click(chromedp.CSS(`#bulk button[value=acknowledge]`)),
		visible(chromedp.CSS(`a[target=_blank]`)))
	require.Empty(t, api.owner(first))
	b.shot("67-bulk-kept")
	require.True(t, ask[bool](b, `fetch("/login", { method: "POST", body: new URLSearchParams({ username: "demo", password: "demo" }) }).then((r) => r.ok)`))
	b.do("send it again", chromedp.Click(chromedp.CSS(`main form button`)),
		visible(chromedp.CSS(`.flash[role=status]`)))
	require.Equal(t, fmt.Sprintf("1 acknowledged, 1 belongs to ben (#%d).", second), b.text(`.flash[role=status]`))
	require.Equal(t, "demo", api.owner(first))
	require.Equal(t, "ben", api.owner(second))
}

// keyboard acknowledges and finds incidents without the mouse.
func keyboard(t *testing.T, b *tab, api *client) {
	fire(t, "by the keyboard")
	id := api.number("by the keyboard")
	b.do("the list", chromedp.Navigate(home+"/incidents"), visible(chromedp.CSS(rowOf(id)+" .title a")))
	b.do("help", chromedp.KeyEvent("?"), visible(chromedp.CSS(`#keys[open]`)), chromedp.KeyEvent("\x1b"),
		chromedp.WaitNotVisible(chromedp.CSS(`#keys`)))
	b.do("the keys are switched off", chromedp.Click(chromedp.CSS(`.keys-link`)),
		chromedp.Click(chromedp.CSS(`#keys input[name=keys]`)), chromedp.Reload(),
		visible(chromedp.CSS(`.keys-link`)), chromedp.KeyEvent("?"), chromedp.WaitNotVisible(chromedp.CSS(`#keys`)))
	b.do("and on again", chromedp.Click(chromedp.CSS(`.keys-link`)), visible(chromedp.CSS(`#keys[open]`)),
		chromedp.Click(chromedp.CSS(`#keys input[name=keys]`)),
		chromedp.KeyEvent("\x1b"), chromedp.WaitNotVisible(chromedp.CSS(`#keys`)))
	b.do("the first row", chromedp.KeyEvent("j"))
	require.Equal(t, fmt.Sprintf("incident-%d", id), ask[string](b, `document.activeElement.closest("tr").id`))
	ask[bool](b, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }))`) // KeyEvent would type it into the field
	require.Equal(t, "text", ask[string](b, `document.activeElement.name`))
	b.do("letters are typed, and are no keys", chromedp.KeyEvent("jax"))
	require.Equal(t, "jax", ask[string](b, `document.activeElement.value`))
	ask[bool](b, `(() => { document.activeElement.blur(); return true; })()`)
	b.do("tick and acknowledge", chromedp.KeyEvent("x"), chromedp.KeyEvent("a"),
		visible(chromedp.CSS(`.flash[role=status]`)))
	require.Equal(t, "1 acknowledged.", b.text(`.flash[role=status]`))
	b.do("open it", chromedp.KeyEvent("j"), chromedp.KeyEvent("o"), visible(chromedp.CSS(`.timeline`)))
}

// phoneStory is an engineer with a phone: an incident arrives while the list is open, and is acknowledged.
func phoneStory(t *testing.T, b *tab, api *client) {
	fire(t, "already there")
	there := api.number("already there")
	b.do("the list", chromedp.EmulateViewport(360, 740), chromedp.Navigate(home+"/incidents"),
		visible(chromedp.CSS(rowOf(there)+" button")))
	requests := ask[int](b, `performance.getEntriesByType("resource").filter((e) => e.initiatorType === "xmlhttprequest").length`)
	fire(t, "wakes somebody")
	id := api.number("wakes somebody")
	b.until("a button announces it", `document.querySelector("#news button")?.textContent === "1 new"`)
	b.do("show it", chromedp.Click(chromedp.CSS(`#news button`)), visible(chromedp.CSS(rowOf(id)+" button")))
	b.shot("68-phone-new")
	require.Empty(t, ask[[]string](b, overflowing))
	require.Equal(t, requests, ask[int](b,
		`performance.getEntriesByType("resource").filter((e) => e.initiatorType === "xmlhttprequest").length`),
		"the list is streamed, not requested again")
	b.do("acknowledge", chromedp.Click(chromedp.CSS(rowOf(id)+" button")),
		visible(chromedp.CSS(rowOf(id)+" .chip.acknowledged")))
	require.Equal(t, "demo", api.owner(id))
	b.do("a wide window", chromedp.EmulateViewport(1280, 900))
}

func openByHand(t *testing.T, b *tab) {
	b.do("the form", chromedp.Navigate(home+"/incidents/new"), visible(chromedp.CSS(`input[name=plan]`)),
		chromedp.SetValue(chromedp.CSS(`input[name=plan]`),
			"demo-plan"), chromedp.SetValue(chromedp.CSS(`input[name=application]`), "demo"),
		chromedp.SendKeys(chromedp.CSS(`input[name=title]`), "The lift is stuck"),
		chromedp.Click(chromedp.CSS(`button[value=look]`)), visible(chromedp.CSS(`#foreseen`)), settled)
	require.Contains(t, b.text(`#foreseen`), "demo by")
	b.shot("69-open-by-hand")
	b.do("open it", chromedp.Click(chromedp.CSS(`button[value=open]`)), visible(chromedp.CSS(`.timeline`)))
	require.Equal(t, "The lift is stuck", b.text(`h1`))
}
