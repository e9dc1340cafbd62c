package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reviewsPages are the rows of pages (see pages) for reviews, updates and subscriptions.
func reviewsPages() []right {
	return []right{
		{get, "/reviews", nil, 200, people, nil},
		{get, "/incidents/1/review", nil, 200, people, reviewed},
		{get, "/incidents/1/review.md", nil, 200, people, reviewed},
		{get, "/incidents/1/review/edit", nil, 200, people, nil},
		{post, "/incidents/1/review/edit", formOf("title", "t", "text", "x", "state", "draft"), 303, "11111ooo3",
			func(s *server) { s.exec("delete from reviews") }},
		{post, "/incidents/1/review/delete", nil, 303, "11111ooo3", reviewed},
		{get, "/incidents/1/updates", nil, 200, people, nil},
		{post, "/incidents/1/updates", formOf("state", "resolved", "text", "t"), 303, "11111ooo3", withoutUpdates},
		{get, "/subscriptions", nil, 200, people, nil},
		{post, "/subscriptions", formOf("incident", "1", "mode", "email"), 303, "11111oooo", reachable},
		{post, "/subscriptions/900/end", nil, 303, "11111oooo", bobsUpdates},
	}
}

// reachable gives everybody an e-mail address, which other rows delete.
func reachable(s *server) {
	s.exec(`insert into user_contacts (user_id, mode, destination) select id, 'email', name || '@example.com' from users on conflict do nothing`)
}

type review struct {
	Title, Text, State, Author string
	ChangedBy                  string `json:"changed_by"`
	Tags                       []string
	FollowUps                  []m `json:"follow_ups"`
}

func TestReviewsAreWritten(t *testing.T) {
	t.Parallel()
	s, ann := newServer(t), caller{name: "ann", session: "ann"}
	id := s.open()
	s.do(bob, post, fmt.Sprintf("/v1/incidents/%d/comments", id), m{"content": "It was *the disk*."}).is(201)
	s.do(bob, post, fmt.Sprintf("/v1/incidents/%d/resolve", id), nil).is(200)
	at := fmt.Sprintf("/v1/reviews/%d", id)
	s.do(bob, get, at, nil).is(404)
	s.do(bob, get, at+"/markdown", nil).is(404)
	s.do(bob, get, "/v1/reviews/99/draft", nil).is(404)
	draft := decode[review](s.do(bob, get, at+"/draft", nil).is(200))
	require.Equal(t, "draft", draft.State)
	require.Contains(t, draft.Text, `bob wrote: It was \*the disk\*.`)

	s.do(bob, put, at, m{"title": " ", "text": "x", "tags": []string{"a,b"}, "follow_ups": []m{{"title": "t", "url": "javascript:x"}}}).is(400)
	s.do(viewer, put, at, m{"title": "t", "text": "x"}).is(403)
	in := m{"title": "Disk full", "text": "**Why**: <script>alert(1)</script>", "tags": []string{"disk", "DISK", "db"},
		"follow_ups": []m{{"title": "Alarm earlier", "url": "https://tracker.example/1"}}}
	made := s.do(bob, put, at, in, "If-None-Match", "*").is(201)
	s.do(bob, put, at, in, "If-None-Match", "*").is(412)
	s.do(ann, put, at, changed(in, m{"state": "published"}), "If-Match", made.header.Get("ETag")).is(200)
	s.do(bob, put, at, in, "If-Match", made.header.Get("ETag")).is(412)
	got := decode[review](s.do(viewer, get, at, nil).is(200))
	require.Equal(t, review{Title: "Disk full", Text: "**Why**: <script>alert(1)</script>", State: "published", Author: "bob", ChangedBy: "ann",
		Tags: []string{"db", "disk"}, FollowUps: []m{{"title": "Alarm earlier", "url": "https://tracker.example/1"}}}, got)
	file := decode[struct{ File, Markdown string }](s.do(bob, get, at+"/markdown", nil).is(200))
	require.Equal(t, fmt.Sprintf("review-%d.md", id), file.File)
	require.Contains(t, file.Markdown, "- [Alarm earlier](<https://tracker.example/1>)")

	for query, found := range map[string]int{"": 1, "?tag=DISK": 1, "?tag=di": 0, "?text=WHY": 1, "?text=none": 0, "?state=draft": 0,
		"?state=published": 1, "?team=ops": 0} {
		require.Len(t, itemsOf[m](s.do(viewer, get, "/v1/reviews"+query, nil).is(200)), found, query)
		require.Equal(t, found, strings.Count(s.html(viewer, "/reviews"+query), `class="title"`), query)
	}
	require.Empty(t, itemsOf[m](s.do(other, get, "/v1/reviews", nil).is(200)), "another application does not see it")
	s.do(other, get, at, nil).is(404)
	s.do(bob, get, "/v1/reviews?text="+strings.Repeat("a", 201), nil).is(400)

	page := s.html(viewer, fmt.Sprintf("/incidents/%d/review", id))
	require.Contains(t, page, "<strong>Why</strong>: &lt;script&gt;")
	require.Contains(t, page, `href="https://tracker.example/1"`)
	require.NotContains(t, page, "/review/edit", "a person who may only read cannot edit")
	download := s.do(viewer, get, fmt.Sprintf("/incidents/%d/review.md", id), nil).is(200)
	require.Equal(t, fmt.Sprintf(`attachment; filename="review-%d.md"`, id), download.header.Get("Content-Disposition"))
	require.Equal(t, file.Markdown, download.body)
	s.do(bob, del, at, nil, "If-Match", made.header.Get("ETag")).is(412)
	s.do(bob, del, at, nil).is(204)
	s.do(bob, del, at, nil).is(404)
	require.EqualValues(t, 3, s.number("select count(*) from audit_log where action like 'review %'"))
}

func TestReviewsAreWrittenOnPages(t *testing.T) {
	t.Parallel()
	s, ann := newServer(t), caller{name: "ann", session: "ann"}
	id := s.open()
	incident := fmt.Sprintf("/incidents/%d", id)
	write := incident + "/review/edit"
	require.NotContains(t, s.html(bob, incident), write, "the incident is not over")
	s.do(bob, post, fmt.Sprintf("/v1/incidents/%d/resolve", id), nil).is(200)
	require.Contains(t, s.html(bob, incident), `href="`+write+`"`)
	require.NotContains(t, s.html(viewer, incident), write)
	require.Contains(t, s.html(bob, incident+"/review"), "Nobody has written this review.")
	s.do(bob, get, "/incidents/99/review", nil).is(404)
	s.do(bob, get, "/incidents/99/review/edit", nil).is(404)
	s.do(bob, get, "/incidents/x/review", nil).is(404)
	require.Contains(t, s.html(bob, write), "## Timeline")

	shown := s.send(bob, write, "do", "preview", "title", "A title", "text", "a **bold** word", "tags", "disk, db", "state", "draft").is(200).body
	require.Contains(t, shown, "a <strong>bold</strong> word")
	require.Contains(t, shown, `value="disk, db"`)
	require.Contains(t, s.html(bob, incident), "Nobody has written a review.", "a preview stores nothing")

	refused := s.send(bob, write, "title", "", "text", "x", "tags", strings.Repeat("a", 41), "follow_ups", "javascript:x evil", "state", "draft").is(400).body
	for _, field := range []string{"title", "tags", "follow_ups"} {
		require.Contains(t, refused, `id="wrong-`+field+`"`)
	}
	require.Contains(t, refused, "javascript:x evil</textarea>", "what was typed stays")
	require.Contains(t, s.send(bob, write, "title", "t", "state", "none").is(400).body, `id="wrong-state"`)
	form := []string{"title", "A title", "text", "text", "tags", "disk, db\ndisk", "follow_ups", "https://t.example/1 Alarm earlier\nhttps://t.example/2",
		"state", "published"}
	status, page := s.press(bob, write, form...)
	require.Equal(t, 303, status)
	require.Contains(t, page, "Alarm earlier</bdi>")
	require.Contains(t, page, "https://t.example/2</bdi>", "an address without a title is its own title")
	require.Contains(t, s.html(bob, incident), "A title</bdi>", "the page of the incident leads to the review")
	require.Contains(t, s.html(bob, incident), `href="/reviews?tag=disk"`)
	require.Contains(t, s.html(bob, write), "https://t.example/1 Alarm earlier\nhttps://t.example/2 https://t.example/2</textarea>")
	again := s.send(ann, write, form...).is(412).body
	require.Contains(t, again, "A title", "a form about an older state keeps what was typed")
	status, _ = s.press(bob, incident+"/review/delete")
	require.Equal(t, 303, status)
	require.Zero(t, s.number("select count(*) from reviews"))
}

func TestUpdatesAreSentToSubscribers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.open()
	at := fmt.Sprintf("/v1/incidents/%d/updates", id)
	subscribers := fmt.Sprintf("/v1/incidents/%d/subscribers", id)
	require.JSONEq(t, `{"people": 0, "modes": [], "subscribers": []}`, s.do(viewer, get, subscribers, nil).is(200).body)
	s.do(bob, post, "/v1/update-subscriptions", m{"incident": id, "mode": "sms"}).is(400)
	s.do(bob, post, "/v1/update-subscriptions", m{"incident": id, "mode": "slack"}).problem(400, "mode")
	s.do(bob, post, "/v1/update-subscriptions", m{"mode": "email"}).is(400)
	mine := decode[struct{ ID int64 }](s.do(bob, post, "/v1/update-subscriptions", m{"incident": id, "mode": "email"}).is(201)).ID
	s.do(viewer, post, "/v1/update-subscriptions", m{"application": "demo", "mode": "email"}).is(201)
	require.JSONEq(t, `{"people": 2, "modes": [{"mode": "email", "people": 2}], "subscribers": [
		{"person": "bob", "mode": "email", "through": "incident"}, {"person": "viewer", "mode": "email", "through": "application"}]}`,
		s.do(viewer, get, subscribers, nil).is(200).body)
	s.do(other, get, subscribers, nil).is(404)
	require.Len(t, itemsOf[m](s.do(bob, get, fmt.Sprintf("/v1/update-subscriptions?incident=%d", id), nil).is(200)), 1)
	require.Empty(t, itemsOf[m](s.do(viewer, get, fmt.Sprintf("/v1/update-subscriptions?incident=%d", id), nil).is(200)))

	s.do(viewer, post, at, m{"state": "identified", "text": "t"}).is(403)
	s.do(bob, post, at, m{"state": "none", "text": " "}).is(400)
	sent := s.do(bob, post, at, m{"state": "identified", "text": "It is the disk."}).is(201)
	require.EqualValues(t, 2, decode[m](sent)["recipients"])
	s.do(bob, post, at, m{"state": "identified", "text": "It is the disk."}).is(200)
	require.EqualValues(t, 2, s.number("select count(*) from messages where purpose = 'update' and mode = 'email'"))
	require.Len(t, itemsOf[m](s.do(viewer, get, at, nil).is(200)), 1)
	for n := range 19 {
		s.do(bob, post, at, m{"state": "monitoring", "text": fmt.Sprint(n)}).is(201)
	}
	full := s.do(bob, post, at, m{"state": "monitoring", "text": "too many"}).is(429)
	require.NotEmpty(t, full.header.Get("Retry-After"))
	require.Contains(t, full.body, "20 updates in an hour")
	s.exec("update incident_updates set created_at = created_at - interval '1 hour'")
	s.do(bob, post, at, m{"state": "monitoring", "text": "later"}).is(201)

	s.do(viewer, del, fmt.Sprintf("/v1/update-subscriptions/%d", mine), nil).is(404)
	s.do(bob, del, fmt.Sprintf("/v1/update-subscriptions/%d", mine), nil).is(204)
	require.Empty(t, itemsOf[m](s.do(bob, get, "/v1/update-subscriptions", nil).is(200)))
	require.EqualValues(t, 2+21+1, s.number("select count(*) from audit_log where action in ('updates subscribed', 'updates unsubscribed', 'update posted')"))
}

func TestUpdatesAreSentOnPages(t *testing.T) {
	t.Parallel()
	s, ann := newServer(t), caller{name: "ann", session: "ann"}
	id := s.open()
	incident := fmt.Sprintf("/incidents/%d", id)
	page := s.html(bob, incident)
	require.Contains(t, page, "Nobody has subscribed")
	require.NotContains(t, page, `<option value="slack"`, "bob has no contact for Slack")
	status, page := s.press(bob, "/subscriptions", "incident", fmt.Sprint(id), "mode", "email", "back", fmt.Sprint(id))
	require.Equal(t, 303, status)
	require.Contains(t, page, "You get updates of this incident by email.")
	require.Contains(t, page, "An update goes to 1 person: 1 by email.")
	require.Contains(t, page, "subscribed to the incident")
	require.NotContains(t, s.html(viewer, incident), `action="`+incident+`/updates"`, "a person who may only read sends no update")
	require.Contains(t, s.html(viewer, incident), `action="/subscriptions"`, "and may subscribe")

	shown := s.send(ann, incident+"/updates", "do", "preview", "state", "monitoring", "text", "a **bold** word").is(200).body
	require.Contains(t, shown, "a <strong>bold</strong> word")
	require.Contains(t, shown, "An update goes to 1 person")
	require.Zero(t, s.number("select count(*) from incident_updates"))
	refused := s.send(ann, incident+"/updates", "state", "monitoring", "text", "").is(400).body
	require.Contains(t, refused, `id="wrong-text"`)
	status, page = s.press(ann, incident+"/updates", "state", "monitoring", "text", "a word")
	require.Equal(t, 303, status)
	require.Contains(t, page, "The update was sent to 1 subscriber.")
	require.Contains(t, page, "update by ann to 1 subscriber, monitoring: a word")
	require.Contains(t, s.html(viewer, incident+"/updates"), "a word")
	s.do(bob, get, "/incidents/99/updates", nil).is(404)

	for field, values := range map[string][]string{"incident": {"incident", "99", "mode", "email"}, "application": {"application", "none", "mode", "email"},
		"team": {"team", "none", "mode", "email"}, "mode": {"team", "ops", "mode", "slack"}} {
		require.Contains(t, s.send(bob, "/subscriptions", values...).body, `id="wrong-`+field+`"`)
	}
	status, page = s.press(bob, "/subscriptions", "team", "ops", "mode", "email")
	require.Equal(t, 303, status)
	require.Contains(t, page, "Team <bdi>ops</bdi>")
	number := s.number("select max(id) from update_subscriptions where incident_id is not null")
	status, page = s.press(bob, fmt.Sprintf("/subscriptions/%d/end", number), "back", fmt.Sprint(id))
	require.Equal(t, 303, status)
	require.Contains(t, page, "Nobody has subscribed")
	s.exec("delete from user_contacts where user_id = (select id from users where name = 'bob')")
	require.Contains(t, s.html(bob, incident), `<a href="/people/bob">your contacts</a>`)
	require.Contains(t, s.html(bob, "/subscriptions"), `<a href="/people/bob">your contacts</a>`)
	other := s.open()
	s.do(bob, post, fmt.Sprintf("/v1/incidents/%d/merge", other), m{"into": id}).is(200)
	require.Contains(t, s.html(bob, fmt.Sprintf("/incidents/%d", other)), fmt.Sprintf(`Write updates at <a href="/incidents/%d">`, id))
	require.Contains(t, s.send(ann, fmt.Sprintf("/incidents/%d/updates", other), "state", "monitoring", "text", "x").is(409).body, "is merged into")
}
