package irisapi_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// random is a text that does not compress. PostgreSQL can store a long repetitive text in an index, but not this one.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)[:n]
}

func TestAQueryThatCannotBeDecodedIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	want := describe("Invalid query string", "it must be pairs of name=value joined by &, percent-encoded")
	for _, list := range []string{"incidents", "plans", "templates", "messages"} {
		f.want(400, want, demo, get, "/v0/"+list+"?plan=%zz&limit=1", "")
		f.want(400, want, demo, get, "/v0/"+list+"?limit=1;id=2", "")
	}
}

func TestTextsTooLongForAnIndexAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	long := random(9000)
	note := func(target string) string {
		raw, err := json.Marshal(map[string]string{"role": "literal_target", "target": target, "subject": "s",
			"mode": "email", "body": "b"})
		require.NoError(t, err)
		return string(raw)
	}
	for _, target := range []string{long, random(1001), "a@example.com\r\nBcc: b@example.com", "a\tb"} {
		f.want(400, describe("Request rejected by sender", "INVALID target"), demo, post, "/v0/notifications",
			note(target))
	}
	f.want(200, "[]", demo, post, "/v0/notifications", note(random(1000)))

	tracking := func(key string) string {
		return planJSON(`{"name"`, fmt.Sprintf(`{"tracking_type":"slack","tracking_key":%q,"tracking_template":{"demo":{"body":"b"}},"name"`, key))
	}
	f.want(400, describe("Invalid tracking template", "tracking_key must be one line of at most 1000 bytes"), asAnn,
		post, "/v0/plans", tracking(long))
	f.ok(asAnn, post, "/v0/plans", tracking("#room"))

	f.want(404, "", asAnn, post, "/v0/templates/"+long, `{"active":1}`, idemKey, "k")
	f.want(404, "", asAnn, post, "/v0/templates/%00%ff", `{"active":1}`, idemKey, "k")
	f.want(404, "", demo, get, "/v0/plans/"+long, "")
	f.want(404, "", demo, post, "/v0/incidents", `{"plan":"`+long+`","context":{}}`)
	f.want(401, title("Invalid plan creator for authenticated app/user"), demo, post, "/v0/plans",
		planJSON(`"ann"`, `"`+long+`"`))
	f.want(200, "[]", demo, get, "/v0/incidents?owner="+long, "")
}

func TestAKeyOfALongPathActsOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	name := strings.Repeat("x", 255)
	body := strings.Replace(incidentBody, `{`, `{"application":"demo",`, 1)
	long := caller{app: "power", key: "power-key", user: name}
	f.want(201, "1", long, post, "/v0/incidents", body, idemKey, "k")
	f.want(201, "1", long, post, "/v0/incidents", body, idemKey, "k")
	other := caller{app: "power", key: "power-key", user: name + "y"}
	f.want(201, "2", other, post, "/v0/incidents", body, idemKey, "k")
}

func TestCommentsHaveALimitAndAnAuthor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(demo, post, "/v0/incidents", incidentBody)
	comment := func(author, content string) string { return fmt.Sprintf(`{"author":%q,"content":%q}`, author, content) }
	f.want(400, title("Comment too long. 65536 characters are more than the limit of 65535"), power, post,
		"/v0/incidents/1/comments",
		comment("ann", strings.Repeat("ü", 65536)))
	f.want(400, title("Failed to post comment"), power, post, "/v0/incidents/1/comments", comment("gone", "c"))
	f.want(201, "1", power, post, "/v0/incidents/1/comments", comment("ann", strings.Repeat("ü", 65535)))
}

func TestPlansWarnOfPeopleWhoAreNotPaged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	empty := planJSON(planJSON()[strings.Index(planJSON(), `"steps":`):], `"steps":[]}`)
	rec := f.do(asAnn, post, "/v0/plans", empty)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, []string{"the plan has no steps: incidents with it are refused"},
		rec.Header().Values("X-Iris-Warning"))
	rec = f.do(asAnn, post, "/v0/plans", planJSON(`{"name"`,
		`{"tracking_type":"call","tracking_key":"+1","tracking_template":{"demo":{"body":"b"}},"name"`))
	require.Equal(t, []string{"a tracking notification is never a call, so none is sent"},
		rec.Header().Values("X-Iris-Warning"))
	rec = f.do(power, post, "/v0/plans", planJSON(`"ann"`, `"gone"`))
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, []string{"the creator gone is not active, so nobody is the last resort"},
		rec.Header().Values("X-Iris-Warning"))
}

func TestMessagesAreShownWithoutTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := random(90)
	f.ok(demo, post, "/v0/incidents", incidentBody)
	f.exec(`insert into messages (bucket, incident_id, application_id, recipient, target, class, mode, state)
		select 1, 1, a.id, 'user:1', 'ann', 0, 'email', 'sent' from applications a where a.name = 'demo'`)
	f.exec(`insert into message_contents (message_id, subject, body) select id, 'S', 'see https://iris.example/ack/' || $1 || ' or reply' from messages`, token)
	for _, path := range []string{"/v0/messages/1", "/v0/messages?limit=1"} {
		body := f.ok(demo, get, path, "")
		require.NotContains(t, body, token)
		require.Contains(t, body, "see https://iris.example/ack/... or reply")
	}
	f.want(200, "[]", demo, get, "/v0/messages?body__contains="+token[:20]+"&limit=1", "")
	f.want(200, "[]", demo, get, "/v0/messages?body__contains=/ack/"+token[:1]+"&limit=1", "")
	require.NotEqual(t, "[]", f.ok(demo, get, "/v0/messages?body__contains=or+reply&limit=1", ""))
	f.exec(`insert into message_history select m.id + 1, m.created_at, m.bucket, m.incident_id, m.request_id, m.application_id, m.plan_id, m.reopen_count,
		m.step, m.position, m.repeat, m.recipient, m.purpose, m.user_id, m.target, m.priority, m.class, m.mode, m.template, m.state, m.attempt, m.mode_changed,
		m.settled_at, '', 'S', c.body, '', '', '[]' from messages m join message_contents c on c.message_id = m.id`)
	body := f.ok(demo, get, "/v0/messages/2", "")
	require.NotContains(t, body, token)
	require.Contains(t, body, "/ack/... or reply")
}
