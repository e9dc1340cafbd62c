package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/markdown"
	"github.com/iris-oncall/iris/internal/users"
)

// fakeLoader serves data from maps and counts queries.
type fakeLoader struct {
	mu        sync.Mutex
	calls     map[string]int
	incidents map[incidents.ID]IncidentData
	requests  map[int64]RequestData
	plans     map[int64]PlanData
	templates map[TemplateKey]Found
	detours   map[ID]Change
	err       error
}

func (f *fakeLoader) count(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[what]++
	return f.err
}

func (f *fakeLoader) Incidents(_ context.Context, _ []incidents.ID) (map[incidents.ID]IncidentData, error) {
	return f.incidents, f.count("incidents")
}

func (f *fakeLoader) Requests(_ context.Context, _ []int64) (map[int64]RequestData, error) {
	return f.requests, f.count("requests")
}

func (f *fakeLoader) Plans(_ context.Context, _ []int64) (map[int64]PlanData, error) {
	return f.plans, f.count("plans")
}

func (f *fakeLoader) Templates(_ context.Context, _ []TemplateKey) (map[TemplateKey]Found, error) {
	return f.templates, f.count("templates")
}

func (f *fakeLoader) Detours(_ context.Context, _ []ID) (map[ID]Change, error) {
	return f.detours, f.count("detours")
}

const (
	ackURL      = "https://iris.example.com/ack/token"
	incidentURL = "https://iris.example.com/incidents/5"
)

type fixture struct {
	*fakeLoader
	renderer *Renderer
	t        *testing.T
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fakeLoader{
		calls: map[string]int{},
		incidents: map[incidents.ID]IncidentData{5: {
			Context:   json.RawMessage(`{"title": "Disk full", "host": "db-1", "zebra": 1, "apple": null}`),
			CreatedAt: time.Date(2026, 11, 20, 8, 0, 1, 0, time.FixedZone("", 3600)),
			PlanID:    7, Application: "shop", TitleVariable: "title",
		}},
		requests:  map[int64]RequestData{},
		plans:     map[int64]PlanData{7: {Name: "shop-plan", Dynamic: []StepPosition{{Step: 1, Position: 2}}}},
		templates: map[TemplateKey]Found{},
	}
	return &fixture{fakeLoader: f, renderer: NewRenderer(f), t: t}
}

func (f *fixture) template(mode users.Mode, c TemplateContent) {
	f.templates[TemplateKey{Template: "words", Application: "shop", Mode: mode}] = Found{true, true, true, c}
}

func (f *fixture) request(mode users.Mode) Request {
	return Request{
		MessageID: 27, IncidentID: 5, PlanID: 7, Step: 1, Position: 2, Purpose: Primary, Mode: mode, Priority: users.High,
		Target: "demo", Template: "words", AckURL: ackURL, IncidentURL: incidentURL,
	}
}

func (f *fixture) one(q Request) Content {
	f.t.Helper()
	out, err := f.renderer.Render(f.t.Context(), []Request{q})
	require.NoError(f.t, err)
	require.Len(f.t, out, 1)
	c := out[0]
	for _, s := range []string{c.Subject, c.Body, c.EmailHTML, c.Problem} {
		require.True(f.t, utf8.ValidString(s))
		require.NotContains(f.t, s, "\x00")
	}
	require.LessOrEqual(f.t, utf8.RuneCountInString(c.Subject), maxSubject)
	require.LessOrEqual(f.t, utf8.RuneCountInString(c.Body), MaxBody)
	return c
}

func TestRenderEmail(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.Email, TemplateContent{
		Subject: "{{ title }}",
		Body: "{{ host }} {{ iris.target }} {{ iris.priority }}/{{ iris.priority_id }} {{ iris.application }} {{ iris.plan }}" +
			" {{ iris.plan_id }} {{ iris.incident_id }} {{ iris.incident_created }} {{ iris.template }} {{ iris.dynamic_target }}",
	})
	c := f.one(f.request(users.Email))
	require.Empty(t, c.Problem)
	require.Equal(t, "27 Disk full", c.Subject)
	require.Equal(t, "db-1 demo high/2 shop shop-plan 7 5 2026-11-20 07:00:01 words True"+
		"\n\nAcknowledge: "+ackURL+"\nIncident: "+incidentURL, c.Body)
	require.Contains(t, c.EmailHTML, "<p>db-1 demo high/2")
	require.Contains(t, c.EmailHTML, `<a href="`+ackURL+`">`)
	require.Equal(t, "shop", c.Application)
	require.Equal(t, "shop-plan", c.Plan)
}

func TestRenderShowsTheMessageIDOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		subject, body, want string
	}{
		"subject mentions it": {"[{{ iris.message_id }}] {{ title }}", "x", "[27] Disk full"},
		"subject by index":    {"{{ iris['message_id'] }}: {{ title }}", "x", "27: Disk full"},
		"body mentions it":    {"{{ title }}", "{{ iris.message_id }} x", "Disk full"},
		"nobody mentions it":  {"{{ title }}", "x", "27 Disk full"},
		"hidden in a condition": {"{% if title %}{{ iris.message_id }}{% endif %} {{ title }}", "x",
			"27 27 Disk full"},
		"through a filter":          {"{{ iris.message_id|string }} {{ title }}", "x", "27 27 Disk full"},
		"empty subject":             {"", "x", "27"},
		"subject strips the space":  {"{{- title }}", "x", "27Disk full"},
		"later in the first output": {"{{ title }} {{ iris.message_id }}", "x", "Disk full 27"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			f.template(users.Email, TemplateContent{Subject: c.subject, Body: c.body})
			require.Equal(t, c.want, f.one(f.request(users.Email)).Subject)
		})
	}
}

func TestRenderSMSAndCall(t *testing.T) {
	t.Parallel()
	f := setup(t)
	content := TemplateContent{Subject: "{{ title }}", Body: "See *{{ host }}* at\nhttps://wiki/x_y {{ '\\n' }}now"}
	f.template(users.SMS, content)
	f.template(users.Call, content)
	require.Equal(t, "27 Disk full. See *db-1* at\nhttps://wiki/x_y \nnow\nAcknowledge: "+ackURL+" or reply \"27 ack\"",
		f.one(f.request(users.SMS)).Body)
	require.Equal(t, "27 Disk full. See db-1 at. a link. now", f.one(f.request(users.Call)).Body)

	f.template(users.SMS, TemplateContent{Body: "{{ 'ä' * 5000 }}"})
	sms := f.one(f.request(users.SMS)).Body
	require.Equal(t, MaxSMS, utf8.RuneCountInString(sms))
	require.True(t, strings.HasSuffix(sms, "...\nAcknowledge: "+ackURL+" or reply \"27 ack\""), sms[len(sms)-120:])

	f.template(users.SMS, TemplateContent{Body: "{{ iris.ack_url }} or reply {{ iris.message_id }} claim"})
	require.Equal(t, ackURL+" or reply 27 claim", f.one(f.request(users.SMS)).Body)
}

func TestRenderAddsNothingInOtherModes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.Webhook, TemplateContent{Subject: "{{ title }}", Body: "body"})
	f.template(users.Email, TemplateContent{Subject: "{{ title }}", Body: "mail"})
	require.Equal(t, "body", f.one(f.request(users.Webhook)).Body)
	require.Equal(t, "mail", f.one(f.request(users.Drop)).Body, "drop uses the text of email")
}

func TestRenderWithoutTemplateStillPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(f *fixture, q *Request)
		problem string
	}{
		"no template": {func(f *fixture, q *Request) {}, "template words does not exist"},
		"no application": {func(f *fixture, q *Request) {
			f.templates[TemplateKey{"words", "shop", users.SMS}] = Found{Template: true}
		}, "template words does not have application shop"},
		"no mode": {func(f *fixture, q *Request) {
			f.templates[TemplateKey{"words", "shop", users.SMS}] = Found{Template: true, Application: true}
		}, "template words does not have mode sms"},
		"failing": {func(f *fixture, q *Request) {
			f.template(users.SMS, TemplateContent{Body: "a\n{{ missing.attribute }}"})
		}, "template words body failed to render: UndefinedError: 'missing' is undefined (line 2)"},
		"malformed": {func(f *fixture, q *Request) {
			f.template(users.SMS, TemplateContent{Subject: "{% if %}"})
		}, "template words subject failed to render: TemplateSyntaxError:"},
		"endless": {func(f *fixture, q *Request) {
			f.template(users.SMS, TemplateContent{Body: "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"})
		}, "nested too deeply"},
		"hungry": {func(f *fixture, q *Request) {
			f.template(users.SMS, TemplateContent{Body: "{{ 'x' * 1000 * 1000 * 1000 }}"})
		}, "too much memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			q := f.request(users.SMS)
			c.prepare(f, &q)
			got := f.one(q)
			require.Contains(t, got.Problem, c.problem)
			require.True(t, strings.HasPrefix(got.Problem, "The message to demo went out as plain text: "))
			require.Equal(t, "27 [shop] Disk full", got.Subject)
			require.Equal(t, "[shop] Disk full\nReply \"27 ack\"\n"+ackURL, got.Body)
		})
	}
}

func TestRenderQuarantinedAndWithoutTemplate(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.Email, TemplateContent{Body: "never used"})
	q := f.request(users.Email)
	q.Plain = true
	c := f.one(q)
	require.Equal(t, "27 [shop] Disk full", c.Subject)
	require.Contains(t, c.Problem, "suspended")
	require.Contains(t, c.Body, "host: db-1\nzebra: 1")
	require.Contains(t, c.EmailHTML, "<h2>Disk full</h2>")

	q = f.request(users.Email)
	q.Template = ""
	c = f.one(q)
	require.Empty(t, c.Problem)
	require.Contains(t, c.Body, "Opened: 2026-11-20 07:00:01 UTC")
	require.Contains(t, c.Body, "Message: 27")

	q.IncidentID = 99
	f.incidents = nil
	require.Contains(t, f.one(q).Problem, "does not exist any more")
}

func TestRenderOutOfBand(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.requests[3] = RequestData{Application: "shop", Subject: "hello", Body: "**body**"}
	f.requests[4] = RequestData{Application: "shop", Subject: "hello", Template: "words",
		Context: json.RawMessage(`{"a": 1}`)}
	f.requests[6] = RequestData{Application: "shop", Subject: "only html", EmailHTML: "<p>own</p>"}
	f.template(users.Email, TemplateContent{Subject: "s {{ a }}", Body: "{{ iris }} {{ a }}"})
	q := Request{MessageID: 28, RequestID: 3, Mode: users.Email, Target: "demo"}
	c := f.one(q)
	require.Equal(t, "[shop] hello", c.Subject)
	require.Equal(t, "**body**", c.Body)
	require.Contains(t, c.EmailHTML, "<strong>body</strong>")

	q.RequestID = 4
	c = f.one(q)
	require.Equal(t, "[shop] s 1", c.Subject)
	require.Equal(t, "{} 1", c.Body)

	q.RequestID = 6
	c = f.one(q)
	require.Empty(t, c.Body)
	require.Equal(t, "<p>own</p>", c.EmailHTML)

	f.requests[7] = RequestData{Application: "shop", Subject: "Re: 27 hello", Body: "claimed", Bare: true}
	q.RequestID = 7
	require.Equal(t, "Re: 27 hello", f.one(q).Subject, "the answer to a mail keeps its subject")

	q.RequestID = 4
	f.templates = nil
	c = f.one(q)
	require.Equal(t, "[shop] hello", c.Subject)
	require.Contains(t, c.Body, "a: 1")
}

func TestRenderTracking(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.plans[7] = PlanData{Name: "shop-plan",
		Tracking: json.RawMessage(`{"Shop": {"email_subject": "{{ title }} {{ iris.incident_id }}",
		"email_text": "{{ iris }}", "email_html": "<b>{{ host }}</b>", "body": "chat {{ title }}"}}`)}
	q := f.request(users.Email)
	q.Purpose, q.AckURL = TrackingMsg, ""
	c := f.one(q)
	require.Empty(t, c.Problem)
	require.Equal(t, "Disk full 5", c.Subject)
	require.Contains(t, c.Body, "'incident_created': '2026-11-20 07:00:01'")
	require.Equal(t, "<b>db-1</b>", c.EmailHTML)
	q.Mode = users.Slack
	require.Equal(t, "chat Disk full", f.one(q).Body)
}

func TestRenderCutsAndCleans(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.incidents[5] = IncidentData{Application: "shop", Context: json.RawMessage(`{"long": "` +
		strings.Repeat("ü", 30000) + `", "nul": "a\u0000b\ud800"}`)}
	f.template(users.Email, TemplateContent{Subject: "{{ long }}\n{{ nul }}", Body: "{{ nul }}{{ long }}{{ long }}"})
	c := f.one(f.request(users.Email))
	require.Empty(t, c.Problem)
	require.Equal(t, maxSubject, utf8.RuneCountInString(c.Subject))
	require.Equal(t, MaxBody, utf8.RuneCountInString(c.Body))
	require.True(t, strings.HasPrefix(c.Body, "ab\ufffd"), c.Body[:20])
	require.Contains(t, c.Body, "The rest was cut off")
	require.True(t, strings.HasSuffix(c.Body, incidentURL))
}

func TestRenderNotesAndFallback(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.Slack, TemplateContent{Body: "body"})
	q := f.request(users.Slack)
	q.Purpose = Fallback
	require.Equal(t, "You get this because nobody it was meant for could be reached; the incident's timeline says why.\n\nbody\n\nAcknowledge: "+ackURL,
		f.one(q).Body)
	for _, c := range []struct {
		change Change
		note   string
	}{
		{Change{Old: "manager|ops", Description: "manager of ops cannot be paged: team ops has no manager"},
			"because manager of ops cannot be paged: team ops has no manager."},
		{Change{Old: "user|root", Description: "root cannot be paged in any mode: there is no call contact."},
			"because root cannot be paged in any mode: there is no call contact."},
		{Change{Old: "bob", Description: "Every mode failed; notifying the plan's creator"},
			"instead of bob. Every mode failed; notifying the plan's creator."},
		{Change{Old: "bob", Description: strings.Repeat("long ", 100)}, "instead of bob. " +
			strings.Repeat("long ", 48) + "lo...."},
	} {
		f.detours = map[ID]Change{q.MessageID: c.change}
		require.Equal(t, "You get this "+c.note+"\n\nbody\n\nAcknowledge: "+ackURL, f.one(q).Body)
	}
}

func TestRenderNotices(t *testing.T) {
	t.Parallel()
	f := setup(t)
	opened := f.incidents[5].CreatedAt
	f.detours = map[ID]Change{27: {At: opened.Add(2*time.Hour + 3*time.Minute),
		Description: "resolved by eve through the API"}}
	one := func(mode users.Mode, purpose Purpose) Content {
		q := f.request(mode)
		q.Template, q.AckURL, q.Position, q.Purpose = "", "", 0, purpose
		return f.one(q)
	}
	const why = "Resolved by eve through the API, 2 h 3 min after it was opened."
	mail := one(users.Email, ResolvedNotice)
	require.Equal(t, "[shop] Resolved: Disk full", mail.Subject)
	require.True(t, strings.HasPrefix(mail.Body, why+"\n\nDisk full\n"), mail.Body)
	require.Contains(t, mail.Body, "State: resolved")
	require.Contains(t, mail.EmailHTML, "<p>"+why+"</p>")
	require.NotContains(t, mail.Body+mail.EmailHTML, "Acknowledge")
	require.Equal(t, why+"\n[shop] Resolved: Disk full", one(users.SMS, ResolvedNotice).Body)
	require.Equal(t, "shop Resolved: Disk full. "+why+" resolved.", one(users.Call, ResolvedNotice).Body)
	require.True(t, strings.HasPrefix(one(users.Slack, ResolvedNotice).Body, why+"\n\n*Disk full*"))

	f.detours = map[ID]Change{27: {At: opened.Add(time.Hour), Description: "one alert more fires: db-2"}}
	news := one(users.Email, OwnerNotice)
	require.Equal(t, "[shop] News: Disk full", news.Subject)
	require.True(t, strings.HasPrefix(news.Body, "One alert more fires: db-2.\n\nDisk full\n"), news.Body)

	f.detours = nil
	require.True(t, strings.HasPrefix(one(users.Email, ResolvedNotice).Body, "Disk full\n"),
		"the entry on the timeline was deleted")
}

func TestRenderCustomHTML(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.Email, TemplateContent{Body: "text", EmailHTML: "<html><BODY><p>{{ title }}</p></BODY></html>"})
	require.Equal(t, `<html><BODY><p>Disk full</p><p><a href="`+ackURL+
		`">Acknowledge this incident</a> &middot; <a href="`+incidentURL+
		`">Show it</a></p>`+"\n"+`</BODY></html>`, f.one(f.request(users.Email)).EmailHTML)

	f.template(users.Email, TemplateContent{Body: "<script>alert(1)</script> [x](javascript:alert(1))"})
	html := f.one(f.request(users.Email)).EmailHTML
	require.NotContains(t, html, "<script")
	require.NotContains(t, html, "javascript:")
}

func TestRenderLoadsInBatches(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.Email, TemplateContent{Body: "{{ iris.message_id }}"})
	var reqs []Request
	for i := range 100 {
		q := f.request(users.Email)
		q.MessageID = ID(i)
		reqs = append(reqs, q)
	}
	out, err := f.renderer.Render(t.Context(), reqs)
	require.NoError(t, err)
	for i, c := range out {
		require.True(t, strings.HasPrefix(c.Body, fmt.Sprint(i)))
	}
	_, err = f.renderer.Render(t.Context(), reqs)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"incidents": 2, "templates": 2, "plans": 1}, f.calls, "a plan is read once")

	f.err = errors.New("away")
	_, err = f.renderer.Render(t.Context(), reqs)
	require.ErrorIs(t, err, f.err)
	out, err = f.renderer.Render(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, out)
}

func TestRenderSuspendsATemplateThatExceedsItsLimits(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.SMS, TemplateContent{Body: "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"})
	for range strikes {
		require.Contains(t, f.one(f.request(users.SMS)).Problem, "LimitError")
	}
	require.Contains(t, f.one(f.request(users.SMS)).Problem, "suspended for a while")
}

func TestRenderConcurrently(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.template(users.Email, TemplateContent{Body: "{% set l = [] %}{% for i in range(50) %}{{ l.append(i) or '' }}{% endfor %}{{ l|length }} {{ iris.message_id }}"})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				q := f.request(users.Email)
				q.MessageID = ID(100*i + j)
				out, err := f.renderer.Render(t.Context(), []Request{q})
				if err != nil || !strings.HasPrefix(out[0].Body, fmt.Sprintf("50 %d", q.MessageID)) {
					t.Errorf("got %v %v", out, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestMarkdownWithTooManyMarksIsShownAsPlainText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"[", "*a ", "> ", "![", "_a*", "[a](", "~~"} {
		text := strings.Repeat(s, markdown.MaxMarks+1)
		require.Equal(t, "<pre>"+html.EscapeString(text)+"</pre>\n", toHTML(text))
	}
	require.Contains(t, toHTML(strings.Repeat("* a **b**\n", markdown.MaxMarks/5)), "<strong>b</strong>")
}

// BenchmarkMarkdownOfHostileText converts the slowest inputs at the maximum length.
func BenchmarkMarkdownOfHostileText(b *testing.B) {
	for _, s := range []string{"[", "*a ", "> ", "![", "`", "<", "_a*", "|a", "- ", "\\", "&", "[a](", "http://a "} {
		n := maxMarkdown / len(s)
		for markdown.Heavy(strings.Repeat(s, n)) {
			n -= 100
		}
		text := strings.Repeat(s, n)
		b.Run(s, func(b *testing.B) {
			for b.Loop() {
				toHTML(text)
			}
		})
	}
}

func BenchmarkRenderEmail(b *testing.B) {
	f := &fakeLoader{
		calls: map[string]int{},
		incidents: map[incidents.ID]IncidentData{5: {Application: "shop", Context: json.RawMessage(
			`{"title": "Disk full", "alerts": [{"labels": {"alertname": "HighLoad", "instance": "web-1"}, "status": "firing"},
			{"labels": {"alertname": "DiskFull", "instance": "db-1"}, "status": "resolved"}]}`)}},
		plans: map[int64]PlanData{7: {Name: "shop-plan"}},
		templates: map[TemplateKey]Found{{Template: "words", Application: "shop", Mode: users.Email}: {true, true, true, TemplateContent{
			Subject: "[{{ iris.priority }}] {{ title }}",
			Body:    "# {{ title }}\n{% for a in alerts %}* {{ a.labels.alertname }} on {{ a.labels.instance }} is {{ a.status|upper }}\n{% endfor %}",
		}}},
	}
	r := NewRenderer(f)
	reqs := []Request{{MessageID: 27, IncidentID: 5, PlanID: 7, Mode: users.Email, Target: "demo", Template: "words",
		AckURL: ackURL}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Render(b.Context(), reqs); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDigestsAndReplacedTexts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	i := f.incidents[5]
	i.Sender = "shop@example.com"
	f.incidents[5] = i
	out, err := f.renderer.Render(t.Context(), []Request{
		{MessageID: 1, PlanID: 7, Mode: users.Email, Target: "ana", Batch: "0123456789abcdef0123456789abcdef",
			BatchSize: 12, Application: "shop", Sender: "s@example.com", AckURL: ackURL},
		{MessageID: 2, PlanID: 7, Mode: users.SMS, Target: "bo", Batch: "ff", BatchSize: 3, Application: "shop",
			Purpose: Fallback},
		{MessageID: 3, IncidentID: 5, PlanID: 7, Mode: users.SMS, Override: "Incident 5", Prefix: "[Notice]",
			AckURL: ackURL},
		{MessageID: 4, IncidentID: 5, PlanID: 7, Mode: users.Email, Override: "Incident 5", Prefix: "[Notice]"},
	})
	require.NoError(t, err)
	require.Equal(t, "[shop] 12 messages from plan shop-plan", out[0].Subject)
	require.Equal(t, "Batch ID: 0123456789abcdef0123456789abcdef\n\nAcknowledge: "+ackURL, out[0].Body)
	require.Contains(t, out[0].EmailHTML, `">Acknowledge all incidents of this digest</a>`)
	require.Empty(t, out[0].Problem)
	require.Equal(t, "shop", out[0].Application)
	require.Equal(t, "s@example.com", out[0].Sender)
	require.Contains(t, out[1].Body, "nobody it was meant for could be reached", "a fallback hears why")
	require.Contains(t, out[1].Body, "Batch ID: ff")
	require.Equal(t, "[Notice] Incident 5", out[2].Body)
	require.True(t, out[2].Replaced)
	require.NotContains(t, out[3].Body, "Notice", "texts only")
	require.False(t, out[3].Replaced)
	require.Equal(t, "shop@example.com", out[3].Sender)
	require.Empty(t, out[2].Sender)
}

// The built-in text names who acknowledged the incident, else its label owner.
func TestTheBuiltInTextNamesTheOwner(t *testing.T) {
	t.Parallel()
	f := setup(t)
	render := func(owner string) Content {
		f.incidents[5] = IncidentData{Application: "shop", Owner: owner, Context: json.RawMessage(
			`{"integration": "am", "labels": {"owner": "team <db>", "zone": "eu"}, "title": "disk full"}`)}
		out, err := f.renderer.Render(t.Context(),
			[]Request{{MessageID: 1, IncidentID: 5, PlanID: 7, Mode: users.Email, Target: "ana"}})
		require.NoError(t, err)
		return out[0]
	}
	byLabel := render("")
	require.Contains(t, byLabel.Body, "Owner: team <db>\nzone: eu")
	require.Contains(t, byLabel.EmailHTML, "<b>Owner</b></td><td>team &lt;db&gt;</td>")
	require.Contains(t, render("bo").Body, "Owner: bo\nzone: eu")
}
