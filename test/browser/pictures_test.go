//go:build browser

package browser

import (
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Makes the pictures of the README: a team's calendar and an incident (tools/screenshots.sh).
func TestPictures(t *testing.T) {
	startDev(t)
	api := newClient(t)
	require.Eventually(t, func() bool {
		var now []onCall
		api.call(http.MethodGet, "/api/v0/teams/demo/oncall/primary", nil, &now)
		return len(now) > 0
	}, 2*time.Minute, 200*time.Millisecond, "the demo team's calendar is filled")
	b := openTab(t)
	b.do("window", chromedp.EmulateViewport(1100, 760))
	b.logIn("demo", "demo")
	b.do("the calendar", chromedp.Navigate(home+"/teams/demo"), visible(`.now-role[data-role=primary] .holder`),
		visible(`.ec-event`))
	b.shot("calendar")
	fire(t, "disk of db1 is full")
	b.do("the incident", chromedp.Navigate(home+"/incidents"), visible(`td.title a`), chromedp.Click(`td.title a`),
		visible(`.timeline`), visible(`.chip.sent, .chip.delivered`))
	b.shot("incident")
}
