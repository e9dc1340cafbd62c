package reviews_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/kit/markdown"
)

func TestContentIsBounded(t *testing.T) {
	t.Parallel()
	good := reviews.Content{Title: "Disk full", Text: "text", Tags: []string{"disk"},
		FollowUps: []reviews.FollowUp{{Title: "alarm earlier", URL: "https://tracker.example/1"}}, State: reviews.Published}
	require.NoError(t, good.Check())
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint("tag", i))
		}
		return out
	}
	for name, change := range map[string]func(*reviews.Content){
		"title must not be empty":            func(c *reviews.Content) { c.Title = " " },
		"more than 200 characters":           func(c *reviews.Content) { c.Title = strings.Repeat("ä", 201) },
		"title must be one line":             func(c *reviews.Content) { c.Title = "a\nb" },
		"text has more than 64 KiB":          func(c *reviews.Content) { c.Text = strings.Repeat("a", 64<<10+1) },
		"at most 20 tags":                    func(c *reviews.Content) { c.Tags = many(21) },
		"must have 1 to 40 characters":       func(c *reviews.Content) { c.Tags = []string{strings.Repeat("a", 41)} },
		"without commas":                     func(c *reviews.Content) { c.Tags = []string{"a,b"} },
		"at most 50 follow-ups":              func(c *reviews.Content) { c.FollowUps = make([]reviews.FollowUp, 51) },
		"title of a follow-up":               func(c *reviews.Content) { c.FollowUps[0].Title = "" },
		"begins with http or https":          func(c *reviews.Content) { c.FollowUps[0].URL = "javascript:alert(1)" },
		`"//x.example" is no address`:        func(c *reviews.Content) { c.FollowUps[0].URL = "//x.example" },
		`"https://x.example/>" is no`:        func(c *reviews.Content) { c.FollowUps[0].URL = "https://x.example/>" },
		"state must be draft or published":   func(c *reviews.Content) { c.State = "done" },
		`"mailto:a@x.example" is no address`: func(c *reviews.Content) { c.FollowUps[0].URL = "mailto:a@x.example" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := good
			c.FollowUps = []reviews.FollowUp{good.FollowUps[0]}
			change(&c)
			require.ErrorContains(t, c.Check(), name)
		})
	}
}

func TestTheFirstTextHasTheFactsOfTheIncident(t *testing.T) {
	t.Parallel()
	opened := time.Date(2026, 11, 20, 21, 52, 0, 0, time.UTC)
	i := incidents.Incident{ID: 17, Application: "shop", Plan: "db", Severity: incidents.Critical, CreatedAt: opened, Resolved: true,
		Context: json.RawMessage(`{"title": "Disk *full*"}`), TitleVariable: "title"}
	at := func(d time.Duration, kind incidents.EntryKind, actor, text string) incidents.Entry {
		return incidents.Entry{At: opened.Add(d), Kind: kind, Actor: actor, Text: text}
	}
	c := reviews.First(i, []incidents.Entry{
		at(0, incidents.EntryOpened, "", "opened"),
		at(time.Second, incidents.EntryStep, "", "step 1: ann by sms"),
		at(2*time.Second, incidents.EntryDelivery, "", "sms to ann by twilio: accepted"),
		at(4*time.Minute, incidents.EntryAcknowledged, "ann", "ann acknowledged"),
		at(5*time.Minute, incidents.EntryComment, "ann", "it is\n<script>alert(1)</script> `rm`"),
		at(time.Hour, incidents.EntryAcknowledged, "bob", "bob acknowledged"),
		at(2*time.Hour, incidents.EntryResolved, "bob", "bob resolved"),
	}, []incidents.Alert{{Fingerprint: "f", Labels: json.RawMessage(`{"alertname":"Full","instance":"db1"}`)}})
	require.NoError(t, c.Check())
	require.Equal(t, reviews.Draft, c.State)
	require.Equal(t, "Incident 17: Disk *full*", c.Title)
	for _, line := range []string{`- Incident: 17, Disk \*full\*`, "- Application and plan: shop, db", "- Severity: critical",
		"- Opened: 2026-11-20 21:52:00", "- Acknowledged: after 4 min, by ann", "- Resolved: after 2 h, by bob",
		"  - Full on db1", "- 2026-11-20 21:52:01: step 1: ann by sms",
		"- 2026-11-20 21:57:00: ann wrote: it is \\<script\\>alert(1)\\</script\\> \\`rm\\`"} {
		require.Contains(t, c.Text, line+"\n")
	}
	require.NotContains(t, c.Text, "twilio", "single messages are left out")
	require.Contains(t, string(markdown.HTML(c.Text)), "<li>Incident: 17, Disk *full*</li>")
}

func TestTheFirstTextOfALongIncidentIsBounded(t *testing.T) {
	t.Parallel()
	var entries []incidents.Entry
	for range 1000 {
		entries = append(entries, incidents.Entry{Kind: incidents.EntryComment, Actor: "ann", Text: strings.Repeat("ä[", 500)})
	}
	alerts := make([]incidents.Alert, 51)
	c := reviews.First(incidents.Incident{ID: 1}, entries, alerts)
	require.NoError(t, c.Check())
	require.Contains(t, c.Text, "more alerts, which the page of the incident shows")
	require.Contains(t, c.Text, "- Acknowledged: never\n- Resolved: not yet\n")
}

func TestAReviewIsOneMarkdownFile(t *testing.T) {
	t.Parallel()
	r := reviews.Review{Incident: 17, Application: "shop", Author: "ann", ChangedBy: "bob", ChangedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		Content: reviews.Content{Title: "Disk [full]", Text: "## Summary\n\nText\n", Tags: []string{"disk", "db"},
			FollowUps: []reviews.FollowUp{{Title: "Alarm [1]", URL: "https://x.example/a_b"}}, State: reviews.Published}}
	require.Equal(t, "# Disk \\[full\\]\n\n- Incident: 17\n- Application: shop\n- State: published\n- Author: ann\n"+
		"- Changed: 2026-11-21 09:00:00 UTC by bob\n- Tags: disk, db\n\n## Summary\n\nText\n\n## Follow-ups\n\n"+
		"- [Alarm \\[1\\]](<https://x.example/a_b>)\n", r.Markdown())
	require.Contains(t, string(markdown.HTML(r.Markdown())), `<a href="https://x.example/a_b" rel="noopener nofollow">Alarm [1]</a>`)
}
