//go:build browser

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A responder silences what pages, on a phone.
func TestAnIncidentIsSilencedOnAPhone(t *testing.T) {
	startDev(t)
	api := newClient(t)
	b := openTab(t)
	b.do("phone", chromedp.EmulateViewport(390, 844))
	b.logIn("demo", "demo")
	fire(t, "disk of db9 is full")
	id := api.number("db9")
	b.do("the form", chromedp.Navigate(fmt.Sprintf("%s/incidents/%d", home, id)),
		visible(`.chip.sent, .chip.delivered`), chromedp.Click(`#more a[href^="/silences/new"]`),
		visible(`#silence`))
	require.Equal(t, `alertname="DiskFull"`, ask[string](b, `document.querySelector("textarea[name=match]").value`))
	require.Equal(t, "demo", ask[string](b, `document.querySelector("input[name=application]").value`))
	b.shot("80-silence-form")
	b.do("silence", chromedp.SetValue(`input[name=comment]`, "new disks arrive tomorrow"),
		chromedp.Click(`#silence button.primary`), visible(`.chip.silenced`))
	require.Contains(t, b.text(`main`), "disk of db9 is full")
	b.shot("81-silence")
	b.do("the incident", chromedp.Click(`main ul a[href^="/incidents/"]`), visible(`.timeline`))
	require.Equal(t, "silenced", b.text(`.head .chip`))
	require.Contains(t, b.text(`.timeline`), "new disks arrive tomorrow")
	require.Contains(t, ask[string](b, `document.getElementById("not-reopened").textContent`), "end the silence first")
	b.shot("82-silenced-incident")
	b.do("the list", chromedp.Navigate(home+"/silences"), visible(`td.title`))
	b.shot("83-silences")
	require.True(t, ask[bool](b, `(nav => nav.scrollWidth <= nav.clientWidth)(document.querySelector(".top nav"))`),
		"the navigation is not cut")
	b.do("change it", chromedp.Click(`td.title a`), visible(`a[href$="/edit"]`), chromedp.Click(`a[href$="/edit"]`),
		visible(`#silence`),
		chromedp.SetValue(`select[name=for_seconds]`,
			"8h"), chromedp.Click(`#silence button.primary`), visible(`form[action$=end] button`))
	b.shot("85-changed")
	b.do("the list", chromedp.Navigate(home+"/silences"), visible(`td.title`))
	b.do("end it", chromedp.Click(`td.title a`), visible(`form[action$=end] button`),
		chromedp.Click(`form[action$=end] button`), visible(`.flash`))
	require.Contains(t, b.text(`.flash`), "has ended")
	b.do("a refused form", chromedp.Navigate(home+"/silences/new"), visible(`#silence`),
		chromedp.SetValue(`input[name=comment]`, "no condition"),
		chromedp.Click(`#silence button.primary`), visible(`.flash.bad`))
	require.Equal(t, "Correct Labels.", b.text(`.flash.bad p`))
	require.Contains(t, b.text(`#silence`), "say which incidents")
	b.shot("84-refused")
}
