//go:build browser

package browser

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// typeInto replaces the text of a field, as a person who pastes does.
func (b *tab) typeInto(field, text string) {
	b.t.Helper()
	ask[bool](b, `(() => { const area = document.querySelector('[name="`+field+`"]'); area.value = `+
		strconv.Quote(text)+`;
		area.dispatchEvent(new Event("input", { bubbles: true })); return true; })()`)
}

// Changes a template with a preview while typing, and pages somebody with it. Then replaces a key.
func TestATemplateIsEditedAndPages(t *testing.T) {
	startDev(t)
	fire(t, "first disk")
	b := openTab(t)
	b.do("open", chromedp.Navigate(home+"/login"), visible(`input[name=password]`))
	b.logIn("demo", "demo")
	b.do("the list", chromedp.Navigate(home+"/templates"), visible(`td.title`))
	b.do("edit", chromedp.Navigate(home+"/templates/demo-template/edit"), visible(`#mode-sms .bubble`))
	b.typeInto("sms.body", "Paged: {{ iris.title | nofilter }}")
	b.do("the error", visible(`#mode-sms .flash.bad`))
	require.Contains(t, b.text(`#mode-sms .flash.bad`), "Body, line 1, column 24")
	b.do("go there", chromedp.Click(`#mode-sms [data-go]`))
	require.InDelta(t, 23, ask[float64](b, `document.activeElement.selectionStart`), 0)
	ask[bool](b, `(() => { const s = document.querySelector("[name=sample]"); s.value = [...s.options].find((o) => o.value.startsWith("incident:")).value;
		s.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	b.typeInto("sms.body", "Paged: {{ iris.title }}")
	b.until("the preview", `document.querySelector("#mode-sms .bubble")?.textContent.includes("Paged: first disk")`)
	b.until("the announcement", `document.querySelector("p.unseen[role=status]")?.textContent === "Preview of SMS updated"`)
	b.typeInto("email.subject", "Paged: {{ iris.title }}")
	b.until("the subject", `document.querySelector("#mode-email .preview strong")?.textContent.includes("Paged: first disk")`)
	b.shot("80-template-edit")
	require.Zero(t, ask[float64](b, `document.querySelector("#mode-email iframe").sandbox.length`),
		"the frame has no rights")
	require.True(t, ask[bool](b, `document.querySelector("#mode-email [data-frame]").hidden`),
		"the script fills the frame")
	b.do("save", chromedp.Click(`.foot button.primary`), visible(`.flash[role=status]`))
	require.Contains(t, b.text(`.flash[role=status]`), "Saved as version")
	fire(t, "second disk")
	require.NotEmpty(t, ackLink(t, "Paged: second disk"), "the page has the new text")

	b.do("the application", chromedp.Navigate(home+"/applications/demo"), visible(`#keys`))
	b.do("a second key", chromedp.Click(`#keys form[action$="second-key"] button`), visible(`.flash.secret pre`))
	fresh := b.text(`.flash.secret pre`)
	require.Greater(t, len(fresh), 20)
	b.do("again", chromedp.Navigate(home+"/applications/demo"), visible(`#keys details.sure`))
	require.NotContains(t, b.text(`main`), fresh, "it is shown once")
	b.do("remove the old key", chromedp.Click(`#keys details.sure summary`),
		chromedp.Click(`#keys details.sure form button`), visible(`.flash[role=status]`))
	require.Contains(t, b.text(`.flash[role=status]`), "The old key is removed")
	b.do("show", chromedp.Click(`#keys form[action$="/key"] button`), visible(`.flash.secret pre`))
	require.Equal(t, fresh, b.text(`.flash.secret pre`))
}
