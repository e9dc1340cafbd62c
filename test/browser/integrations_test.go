//go:build browser

package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// deliver sends a delivery to a generic integration, as a sender does.
func deliver(t *testing.T, token string, body object) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, home+"/v1/hooks/generic", bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, string(answer))
}

// An integration with a rule is added, a delivery opens an incident on the plan of the rule, and a silence made from
// this incident hides the next one.
func TestAnIntegrationRoutesAndASilenceHides(t *testing.T) {
	startDev(t)
	api := newClient(t)
	api.call(http.MethodPost, "/v0/plans", object{"name": "database", "creator": "demo", "description": "d",
		"threshold_window": 900, "threshold_count": 10,
		"aggregation_window": 300, "aggregation_reset": 300, "steps": [][]object{{
			{"role": "user", "target": "demo", "priority": "high", "template": "demo-template", "wait": 300,
				"repeat": 0}}}}, nil)
	b := openTab(t)
	b.logIn("demo", "demo")
	b.do("choose the type", chromedp.Navigate(home+"/integrations"), visible(`h1`),
		chromedp.Click(`a[href="/add-integration"]`),
		visible(`a[href^="/add-integration?type=generic"]`), chromedp.Click(`a[href^="/add-integration?type=generic"]`), visible(`#integration`))
	b.do("add it", chromedp.SetValue(`input[name=name]`, "ci"), chromedp.SetValue(`input[name=application]`, "demo"),
		chromedp.SetValue(`input[name=default_plan]`, "demo-plan"),
		chromedp.Click(`#integration button.primary`), visible(`.flash.secret pre`))
	b.shot("86-token")
	token := strings.TrimSpace(b.text(`.flash.secret pre`))
	require.Contains(t, b.text(`main`), "Authorization: Bearer "+token)

	b.do("a rule", chromedp.Click(`a[href="/integrations/ci/rules"]`), visible(`#do-add`), chromedp.Click(`#do-add`),
		visible(`#rule-1`))
	set := func(name, value string) chromedp.Action[chromedp.Void] {
		return chromedp.SetValue(chromedp.CSS(`[name="`+name+`"]`), value)
	}
	b.do("and a further one that is moved up", set("match.1", `team="db"`), set("plan.1", "database"),
		chromedp.Click(`#do-add`), visible(`#rule-2`),
		set("match.2", `env="test"`), set("to.2", "record"), chromedp.Click(chromedp.CSS(`[id="do-up.2"]`)))
	b.until("the rules are exchanged", `document.querySelector("[name='match.1']").value === 'env="test"' && document.querySelector("[name='match.2']").value === 'team="db"'`)
	b.do("which rule matches?", set("source", "labels"), chromedp.Click(`#test summary`),
		visible(`#test textarea[name=labels]`), set("labels", "team=db"),
		chromedp.Click(`#do-test`), visible(`#test .facts`))
	require.Contains(t, b.text(`#test .facts`), "rule 2 matches")
	require.Contains(t, b.text(`#rule-2 h2`), "matches")
	require.False(t, ask[bool](b, `[...document.querySelectorAll("button")].some((e) => e.textContent === "Enter" && e.checkVisibility())`),
		"nobody meets the button that Enter presses")
	b.do("Enter tests too", set("labels", "team=web"), chromedp.SendKeys(chromedp.CSS(`[name="match.2"]`), "\r "))
	b.until("no rule matches", `document.querySelector("#test .facts")?.textContent.includes("none of 2") && document.querySelector("#match-2").textContent === ""`)
	require.Equal(t, `match.2:  team="db"`, ask[string](b,
		`document.activeElement.name + ": " + document.activeElement.value`),
		"the focus and what is typed meanwhile stay")
	b.shot("87-rules")
	b.do("save", chromedp.Click(`#rules .foot button.primary`), visible(`main > .flash`))
	require.Contains(t, b.text(`main > .flash`), "The rules are stored")

	deliver(t, token, object{"title": "disk of db7 is full", "labels": object{"team": "db"}})
	id := api.number("db7")
	b.do("the incident", chromedp.Navigate(fmt.Sprintf("%s/incidents/%d", home, id)),
		visible(`#more a[href^="/silences/new"]`))
	require.Equal(t, "database", b.text(`.facts a[href^="/plans/"]`), "the plan of the rule")
	b.do("silence it", chromedp.Navigate(fmt.Sprintf("%s/silences/new?incident=%d", home, id)), visible(`#silence`),
		chromedp.Click(`#silence button[value=preview]`),
		visible(`#hides strong`))
	require.Contains(t, b.text(`#hides`), "It would hide 1 incident")
	b.shot("88-foreseen")
	b.do("and store it", chromedp.SetValue(`input[name=comment]`, "new disks"),
		chromedp.Click(`#silence button.primary`), visible(`.chip.silenced`))
	deliver(t, token, object{"title": "disk of db8 is full", "labels": object{"team": "db"}})
	next := api.number("db8")
	require.Eventually(t, func() bool {
		var found struct{ State string }
		api.call(http.MethodGet, fmt.Sprintf("/v1/incidents/%d", next), nil, &found)
		return found.State == "silenced"
	}, 20*time.Second, 100*time.Millisecond, "the silence hides the next incident")
	b.do("longer", chromedp.Click(`form[action$=longer] button`), visible(`main > .flash`))
	require.Contains(t, b.text(`main > .flash`), "lasts longer")
}
