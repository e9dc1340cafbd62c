package contract

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// incidentsPages are the rows of pages (see pages) for the list of incidents.
func incidentsPages() []right {
	return []right{
		{get, "/incidents/new", nil, 200, people, nil},
		{get, "/incidents/people?name=a", nil, 200, people, nil},
		{post, "/incidents/new", formOf("plan", "pager", "application", "demo", "title", "t", "severity", "error",
			"do", "open"), 303, "111113oo3", nil}, // the page of the refusal keeps the form
		{post, "/incidents/bulk", formOf("id", "1", "verb", "acknowledge"), 303, "11111ooo3", unowned},
	}
}

// send posts a form of a page.
func (s *server) send(as caller, path string, pairs ...string) answer {
	s.Helper()
	return s.do(as, post, path, formOf(pairs...), "Content-Type", "application/x-www-form-urlencoded")
}

var shownRow = regexp.MustCompile(`<tr id="incident-(\d+)">`)

// listed returns the incidents that the list shows.
func (s *server) listed(as caller, query string) (ids []int64) {
	s.Helper()
	for _, m := range shownRow.FindAllStringSubmatch(s.do(as, get, "/incidents"+query, nil).is(200).body, -1) {
		id, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(s, err)
		ids = append(ids, id)
	}
	return ids
}

func TestTheListOfIncidentsIsFiltered(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first, second, third := s.open(), s.open(), s.open()
	s.exec("update incident_contexts set context = json_build_object('host', 'db2', 'message', 'says \"hello\"'), severity = 'critical' where incident_id = $1", second)
	s.do(bob, post, fmt.Sprintf("/v1/incidents/%d/acknowledge", first), nil).is(200)
	s.do(bob, post, fmt.Sprintf("/v1/incidents/%d/snooze", third), m{"for": "1h"}).is(200)
	for query, want := range map[string][]int64{
		"":                                       {third, second, first},
		"?show=mine":                             {first},
		"?show=escalating":                       {second},
		"?show=resolved":                         {},
		"?state=snoozed":                         {third},
		"?show=all&state=acknowledged&owner=BOB": {first},
		"?severity=critical":                     {second},
		"?text=" + url.QueryEscape(`says "hello"`):    {second},
		"?text=%23" + fmt.Sprint(first):               {first},
		"?application=DEM&plan=page":                  {third, second, first},
		"?application=none":                           {},
		"?show=nonsense&state=nonsense":               {third, second, first},
		"?label=host%3Ddb2":                           {second},
		"?label=host%3Ddb2&label=severity%3Dcritical": {second},
		"?label=host%3Ddb":                            {},
		"?label=host":                                 {third, second, first},
		"?application=%22DEMO%22":                     {third, second, first},
		"?application=%22dem%22":                      {},
		"?team=ops":                                   {},
		"?team=-":                                     {third, second, first},
		"?title=db2":                                  {second},
		"?title=db":                                   {},
	} {
		require.ElementsMatch(t, want, s.listed(bob, query), query)
	}
	for query, want := range map[string]int64{"label=host%3Ddb2": second, "text=hello": second, "text=%23" + fmt.Sprint(first): first} {
		found := s.do(bob, get, "/v1/incidents?"+query, nil).is(200).body
		require.Contains(t, found, fmt.Sprintf(`"id":%d,`, want), query)
		require.Equal(t, 1, strings.Count(found, `"title":`), query)
	}
	s.do(bob, get, "/v1/incidents?label=host", nil).is(400)
	require.Empty(t, s.listed(bob, "?show=teams"), "no team has to do with the plan")
	s.exec("insert into plan_owners select 'pager', id from teams where name = 'ops'")
	require.Len(t, s.listed(bob, "?show=teams"), 3)
	require.Len(t, s.listed(bob, "?team=OPS"), 3)
	require.Empty(t, s.listed(bob, "?team=-"))
	require.Empty(t, s.listed(admin, "?show=teams"))

	page := s.do(bob, get, "/incidents?severity=critical&text=hello", nil).is(200).body
	require.Contains(t, page, `href="/incidents?severity=critical&amp;show=open"`[:30])
	require.Contains(t, page, "remove this filter")
	require.Contains(t, page, `Step 1: ann by sms</bdi>`, "who is paged next")
	require.NotContains(t, s.do(viewer, get, "/incidents", nil).is(200).body, `name="verb"`)
}

func TestTheListOfIncidentsIsGrouped(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for range 4 {
		s.open()
	}
	s.exec("update incident_contexts set context = json_build_object('host', 'storm') where incident_id < (select max(id) from incidents)")
	page := s.do(bob, get, "/incidents?group=title", nil).is(200).body
	require.Contains(t, page, `<td class="num">3<span class="narrow"> incidents</span></td><td class="title"> <a href="/incidents?title=storm">`)
	require.Empty(t, s.listed(bob, "?group=title"))
	require.Len(t, s.listed(bob, "?show=open&title=storm"), 3)
	require.Contains(t, page, `show=open" aria-current="page">Open <span class="count">4</span></a>`)
	require.Contains(t, page, `show=mine">Mine <span class="count">0</span></a>`)
	s.exec("update applications set team_id = (select id from teams where name = 'ops') where name = 'demo'")
	require.Contains(t, s.do(bob, get, "/incidents?group=team", nil).is(200).body, `team=ops"><bdi>ops</bdi>`)
	require.Len(t, s.listed(bob, "?team=ops"), 4)
	require.Contains(t, s.do(bob, get, "/incidents?group=application", nil).is(200).body, `<bdi>demo</bdi>`)
}

func TestAllMatchingIncidentsAreChanged(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for range 60 {
		s.open()
	}
	first := s.number("select min(id) from incidents")
	s.exec("update incident_contexts set context = json_build_object('host', 'storm', 'zone', 'db') where incident_id <> $1", first)
	s.do(owner, post, fmt.Sprintf("/v1/incidents/%d/acknowledge", first+1), nil).is(200)
	newest := regexp.MustCompile(`name="newest" value="([^"]+)"`).FindStringSubmatch(
		s.do(bob, get, "/incidents?show=open", nil).is(200).body)
	require.NotNil(t, newest)
	s.exec("update incidents set created_at = created_at + interval '5 s' where id = $1", first+2) // opened after the list was shown
	change := func(back string, pairs ...string) string {
		t.Helper()
		s.send(bob, "/incidents/bulk", append([]string{"all", "true", "newest", newest[1], "back", back}, pairs...)...).is(303)
		_, rest, _ := strings.Cut(s.do(bob, get, back, nil).is(200).body, `role="status">`)
		text, _, _ := strings.Cut(rest, "<")
		return text
	}
	require.Equal(t, fmt.Sprintf("57 acknowledged, 1 belongs to ann (#%d).", first+1),
		change("/incidents?show=open&title=storm", "verb", "acknowledge"))
	text := change("/incidents?show=open&label=zone%3Ddb", "verb", "acknowledge")
	require.Contains(t, text, "0 acknowledged, ")
	require.Contains(t, text, "57 were already yours")
	require.Contains(t, text, "and 47 more")
	require.Equal(t, "Nothing was changed: no incident matches.", change("/incidents?show=open&text=nothing", "verb", "resolve"))
	require.EqualValues(t, 0, s.number("select count(*) from incidents where resolved"))
	require.Equal(t, "1 resolved.", change("/incidents?show=escalating", "verb", "resolve"))
	require.EqualValues(t, 1, s.number("select count(*) from incidents where resolved and id = $1", first))
	s.send(bob, "/incidents/bulk", "all", "true", "verb", "resolve", "back", "/incidents").is(400)
	s.send(viewer, "/incidents/bulk", "all", "true", "verb", "resolve", "newest", newest[1]).is(403)
}

func TestTickedIncidentsAreChanged(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var ids []string
	var form []string
	for range 5 {
		ids = append(ids, fmt.Sprint(s.open()))
		form = append(form, "id", ids[len(ids)-1])
	}
	s.do(owner, post, "/v1/incidents/"+ids[1]+"/acknowledge", nil).is(200)
	s.do(owner, post, "/v1/incidents/"+ids[2]+"/resolve", nil).is(200)
	change := func(as caller, verb string, more ...string) string {
		t.Helper()
		values, err := url.ParseQuery(formOf(append([]string{"verb", verb, "back", "/incidents?show=all"}, more...)...))
		require.NoError(t, err)
		for i := 1; i < len(form); i += 2 {
			values.Add("id", form[i])
		}
		a := s.do(as, post, "/incidents/bulk", values.Encode(), "Content-Type",
			"application/x-www-form-urlencoded").is(303)
		require.Equal(t, "/incidents?show=all", a.header.Get("Location"))
		_, rest, _ := strings.Cut(s.do(as, get, "/incidents?show=all", nil).is(200).body, `role="status">`)
		text, _, _ := strings.Cut(rest, "<")
		return text
	}
	require.Equal(t, fmt.Sprintf("3 acknowledged, 1 belongs to ann (#%s), 1 was already resolved (#%s).", ids[1],
		ids[2]), change(bob, "acknowledge"))
	require.Equal(t, fmt.Sprintf("0 acknowledged, 3 were already yours (#%s, #%s, #%s), 1 belongs to ann (#%s), 1 was already resolved (#%s).", ids[0], ids[3], ids[4], ids[1], ids[2]), change(bob, "acknowledge"))
	require.Equal(t, fmt.Sprintf("4 snoozed, 1 was already resolved (#%s).", ids[2]),
		change(bob, "snooze", "for", "2h"))
	require.EqualValues(t, 4, s.number("select count(*) from incidents where snoozed_until > now() + interval '119 min'"))
	require.EqualValues(t, 4, s.number("select count(*) from timeline_entries where text like 'snoozed until % by bob on the web page'"))
	require.Equal(t, fmt.Sprintf("4 resolved, 1 was already resolved (#%s).", ids[2]), change(bob, "resolve"))
	require.EqualValues(t, 5, s.number("select count(*) from incidents where resolved"))

	s.send(viewer, "/incidents/bulk", "verb", "resolve", "id", ids[0]).is(403)
	s.send(bob, "/incidents/bulk", "verb", "delete", "id", ids[0]).is(400)
	s.send(bob, "/incidents/bulk", "verb", "snooze", "id", ids[0], "for", "ages").is(400)
	require.Equal(t, "/incidents", s.send(bob, "/incidents/bulk", "verb", "resolve", "back",
		"https://example.com/").is(303).header.Get("Location"))
	kept := s.send(anonymous, "/incidents/bulk", "verb", "resolve", "id", ids[0]).is(401).body
	require.Contains(t, kept, `name="id" value="`+ids[0]+`"`)
	require.Contains(t, kept, `name="verb" value="resolve"`)
}

// streamed are the events of a stream.
type streamed struct {
	*testing.T
	events chan [2]string // names and data; closed at the end of the stream
}

// stream opens the stream of a page.
func (s *server) stream(as *http.Client, path string) streamed {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(s, err)
	r.Header.Set("Accept", "text/event-stream")
	resp, err := as.Do(r)
	require.NoError(s, err)
	require.Equal(s, http.StatusOK, resp.StatusCode)
	require.Equal(s, "text/event-stream", resp.Header.Get("Content-Type"))
	require.Empty(s, resp.Header.Get("Content-Encoding"))
	out := streamed{s.T, make(chan [2]string, 100)}
	s.Cleanup(func() { _ = resp.Body.Close() })
	go func() {
		defer close(out.events)
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		name := ""
		for lines.Scan() {
			if event, is := strings.CutPrefix(lines.Text(), "event: "); is {
				name = event
			} else if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				out.events <- [2]string{name, data}
			}
		}
	}()
	return out
}

// change is an event that changes a page.
type change struct {
	Seen  string
	Frame *string
	Order []string
	Rows  map[string]string
}

func (s streamed) next(event string) (data string) {
	s.Helper()
	select {
	case e, open := <-s.events:
		require.True(s, open, "the stream ended")
		require.Equal(s, event, e[0], e[1])
		return e[1]
	case <-time.After(15 * time.Second):
		require.FailNow(s, "no event came")
	}
	return ""
}

// until reads changes until one fits.
func (s streamed) until(fits func(change) bool) change {
	s.Helper()
	for {
		var c change
		require.NoError(s, json.Unmarshal([]byte(s.next("part")), &c))
		if fits(c) {
			return c
		}
	}
}

func TestListsAreStreamed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.open()
	row := func(id int64) string { return fmt.Sprintf("incident-%d", id) }
	in := s.stream(s.sessions["bob"], "/incidents?show=open")
	all := in.until(func(c change) bool { return c.Frame != nil })
	require.Equal(t, []string{row(first)}, all.Order)
	require.Contains(t, all.Rows[row(first)], `name="id"`)

	second := s.open()
	changed := in.until(func(c change) bool { return len(c.Order) == 2 })
	require.Equal(t, []string{row(second), row(first)}, changed.Order)
	require.NotNil(t, changed.Frame, "the tabs have other numbers")
	require.NotContains(t, *changed.Frame, row(first), "rows are sent once")
	require.Contains(t, changed.Rows, row(second))
	require.NotContains(t, changed.Rows, row(first), "a row that has not changed is not sent")

	s.do(owner, post, fmt.Sprintf("/v1/incidents/%d/acknowledge", first), nil).is(200)
	changed = in.until(func(c change) bool { return c.Rows[row(first)] != "" })
	require.Contains(t, changed.Rows[row(first)], "acknowledged by <bdi>ann</bdi>")
	require.NotContains(t, changed.Rows, row(second))

	one := s.stream(s.sessions["bob"], fmt.Sprintf("/incidents/%d", second))
	one.until(func(c change) bool { return c.Frame != nil })
	s.do(bob, post, fmt.Sprintf("/v1/incidents/%d/comments", second), m{"content": "<b>I look</b>"}).is(201)
	require.NotContains(t, *one.until(func(c change) bool {
		return c.Frame != nil &&
			strings.Contains(*c.Frame, "I look")
	}).Frame, "<b>")

	again := s.stream(s.sessions["bob"], "/incidents?show=open&seen="+changed.Seen)
	s.do(owner, post, fmt.Sprintf("/v1/incidents/%d/resolve", first), nil).is(200)
	require.NotContains(t, again.until(func(change) bool { return true }).Rows, row(second), "the page had the row already")
}

func TestThePageOfAnIncidentShowsTheNewestMessages(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id, _ := s.page("sms")
	at := fmt.Sprintf("/incidents/%d", id)
	require.NotContains(t, s.html(owner, at), "All messages of this incident")
	s.exec(`insert into messages (bucket, incident_id, application_id, plan_id, step, repeat, recipient, user_id, target, priority, class, mode, state, settled_at)
		select bucket, incident_id, application_id, plan_id, step, n, recipient, user_id, 'newer', priority, class, mode, state, settled_at
		from messages, generate_series(1, 100) n where incident_id = $1`, id)
	page := s.html(owner, at)
	require.Contains(t, page, fmt.Sprintf(`<a href="/messages?incident_id=%d">All messages of this incident</a>`, id))
	require.Equal(t, 100, strings.Count(page, `<a href="/messages/`))
	require.NotContains(t, page, "repeat 0")
	s.do(owner, get, fmt.Sprintf("/messages?incident_id=%d", id), nil).is(http.StatusOK)
}

func TestAStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.join("dora")
	in := s.stream(s.sessions["dora"], "/system")
	in.next("part")
	s.do(caller{name: "dora", session: "dora"}, del, "/v1/sessions?user=dora", nil)
	s.exec("delete from sessions where user_id = (select id from users where name = 'dora')")
	for e := range in.events {
		if e[0] == "login" {
			require.JSONEq(t, `"/login/?next=%2Fsystem"`, e[1])
			return
		}
	}
	require.FailNow(t, "the stream ended without a word")
}

func TestStreamsAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	status := func(as *http.Client, path string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		require.NoError(t, err)
		r.Header.Set("Accept", "text/event-stream")
		resp, err := as.Do(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	refused := func(want int, path string) {
		t.Helper()
		got, _ := status(s.sessions["bob"], path)
		require.Equal(t, want, got, path)
	}
	refused(406, "/plans")
	refused(404, "/incidents/999999")
	_, body := status(browser(t), "/incidents?show=all")
	require.Contains(t, body, "event: login\ndata: \"/login/?next=%2Fincidents%3Fshow%3Dall\"")
	for range 12 {
		s.stream(s.sessions["bob"], "/incidents")
	}
	refused(429, "/incidents")
}

func TestAnIncidentIsOpenedByHand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	form := s.do(bob, get, "/incidents/new?plan=pager&application=demo", nil).is(200).body
	require.Contains(t, form, `<option value="pager">`)
	require.Contains(t, form, "<bdi>ann</bdi> by ", "who would be paged")
	require.Contains(t, form, `/plans/pager?application=demo#simulation`)
	filled := []string{"plan", "pager", "application", "demo", "title", "Checkout <fails>", "summary", "since noon",
		"severity", "critical"}
	require.Contains(t, s.send(bob, "/incidents/new", append(slices.Clone(filled), "do", "look")...).is(200).body,
		`value="Checkout &lt;fails&gt;"`)
	require.Zero(t, s.number("select count(*) from incidents"), "a look opens nothing")
	require.Contains(t, s.send(bob, "/incidents/new", append(slices.Clone(filled), "do", "open")...).is(403).body,
		"leave application out", "bob does not own demo")
	s.send(owner, "/incidents/new", append(slices.Clone(filled), "do", "open")...).is(303)
	filled[3] = ""
	opened := s.send(bob, "/incidents/new", append(slices.Clone(filled), "do",
		"open")...).is(303).header.Get("Location")
	shown := s.do(bob, get, opened, nil).is(200).body
	require.Contains(t, shown, "Checkout &lt;fails&gt;")
	require.Contains(t, shown, `<option value="mailing-list"`, "every role can be paged")
	require.EqualValues(t, 1, s.number("select count(*) from incident_contexts where severity = 'critical' and context::text like '%since noon%' and incident_id = (select max(id) from incidents)"))
	require.EqualValues(t, 1, s.number("select count(*) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'"))

	require.Contains(t, s.send(bob, "/incidents/new", "plan", "none", "application", "demo", "title", "t", "severity",
		"error").body, "there is no active plan")
	require.Contains(t, s.send(bob, "/incidents/new", "plan", "pager", "application", "demo", "severity",
		"error").is(422).body, "Enter a title")
	s.send(viewer, "/incidents/new", filled...).is(403)
	require.Contains(t, s.do(viewer, get, "/incidents/new", nil).is(200).body, "You may only read")
}
