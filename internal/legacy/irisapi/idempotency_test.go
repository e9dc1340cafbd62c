package irisapi_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/legacy/irisapi"
)

const (
	idemKey      = "Idempotency-Key"
	incidentBody = `{"plan":"pager","context":{"host":"web1"}}`
)

func TestAKeyActsOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(201, "1", demo, post, "/v0/incidents", incidentBody, idemKey, "k1")
	rec := f.want(201, "1", demo, post, "/v0/incidents/", incidentBody, idemKey, "k1")
	require.Equal(t, "/incidents/1", rec.Header().Get("Location"))
	require.Equal(t, "true", rec.Header().Get("Idempotent-Replayed"))
	require.Equal(t, 1, f.count("select count(*) from incidents"))
	f.want(422, title("Idempotency-Key was used for another request"), demo, post, "/v0/incidents",
		`{"plan":"pager","context":{}}`, idemKey, "k1")
	f.want(201, "2", demo, post, "/v0/incidents", incidentBody, idemKey, "k2")
	f.want(201, "3", power, post, "/v0/incidents", strings.Replace(incidentBody, `{`, `{"application":"demo",`,
		1), idemKey, "k1") // another application's key
	f.want(201, "1", power, post, "/v0/incidents/1/comments", `{"author":"ann","content":"c"}`, idemKey, "k")
	f.want(201, "2", power, post, "/v0/incidents/2/comments", `{"author":"ann","content":"c"}`, idemKey,
		"k") // another path
	f.want(201, "1", power, post, "/v0/incidents/1/comments", `{"author":"ann","content":"c"}`, idemKey, "k")
	note := `{"role":"user","target":"ann","subject":"s","mode":"email","body":"b"}`
	for range 3 {
		f.want(200, "[]", demo, post, "/v0/notifications", note, idemKey, "n")
	}
	require.Equal(t, 1, f.count("select count(*) from notification_requests"))
}

// TestConcurrentRequestsWithOneKeyActOnce: a request with the key of a running request waits for that answer.
func TestConcurrentRequestsWithOneKeyActOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(201, "1", demo, post, "/v0/incidents", incidentBody)
	for _, c := range []struct {
		path, body, answer, table string
		status, rows              int
	}{
		{"/v0/incidents", incidentBody, "2", "incidents", 201, 2},
		{"/v0/incidents/1/comments", `{"author":"ann","content":"c"}`, "1", "comments", 201, 1},
		{"/v0/notifications", `{"role":"user","target":"ann","subject":"s","mode":"email","body":"b"}`, "[]",
			"notification_requests", 200, 1},
	} {
		var wg sync.WaitGroup
		for range 24 { // more than there are connections
			wg.Go(func() {
				rec := f.do(power, post, c.path, strings.Replace(c.body, `{"plan"`, `{"application":"demo","plan"`,
					1), idemKey, "k")
				require.Equal(t, c.status, rec.Code, rec.Body)
				require.Equal(t, c.answer, rec.Body.String())
			})
		}
		wg.Wait()
		require.Equal(t, c.rows, f.count("select count(*) from "+c.table), c.path)
	}
}

// TestProcessorsAreWokenAfterTheCommit: before the commit they would find nothing, and would read again a second later.
func TestProcessorsAreWokenAfterTheCommit(t *testing.T) {
	t.Parallel()
	var f *fixture
	var seen []int
	f = newFixture(t, func(d *parts) {
		d.Wake = func(ctx context.Context, _ buckets.Set) {
			postgres.AfterCommit(ctx, func() { seen = append(seen, f.count("select count(*) from incidents")) })
		}
	})
	f.want(201, "1", demo, post, "/v0/incidents", incidentBody, idemKey, "k")
	f.want(201, "1", demo, post, "/v0/incidents", incidentBody, idemKey, "k")
	f.want(201, "2", demo, post, "/v0/incidents", incidentBody)
	require.Equal(t, []int{1, 2}, seen)
}

func TestRefusedRequestsDoNotUseTheirKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(404, "", demo, post, "/v0/incidents", `{"plan":"later","context":{}}`, idemKey, "k")
	f.exec("update plans set name = 'later'; update plan_active set name_key = 'later'")
	f.want(201, "1", demo, post, "/v0/incidents", `{"plan":"later","context":{}}`, idemKey, "k")
	f.want(401, describe("Authentication failure", "Malformed/missing HMAC authorization header"), nobody, post,
		"/v0/incidents", "{}", idemKey, "k")
}

// broken fails to open incidents, in one of two ways.
type broken struct{ panics bool }

func (b broken) Open(context.Context, incidents.New) (incidents.Opened, error) {
	if b.panics {
		panic("defect")
	}
	return incidents.Opened{}, fault.New(fault.Unavailable, "the database is away")
}

func TestFailedRequestsDoNotUseTheirKey(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		f := newFixture(t, func(d *parts) { d.Incidents = broken{panics} })
		if panics {
			f.want(500, "Internal Server Error", demo, post, "/v0/incidents", incidentBody, idemKey, "k")
		} else {
			f.want(503, title("the database is away"), demo, post, "/v0/incidents", incidentBody, idemKey, "k")
		}
		require.Zero(t, f.count("select count(*) from idempotency_keys"))
	}
}

func TestInvalidKeysAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, key := range []string{"a b", "ü", strings.Repeat("k", 256)} {
		f.want(400, title("Idempotency-Key must be 1 to 255 visible ASCII characters without spaces"), demo, post,
			"/v0/incidents", incidentBody, idemKey, key)
	}
}

func TestNewRefusesMissingParts(t *testing.T) {
	t.Parallel()
	_, err := irisapi.New(irisapi.Deps{})
	require.Error(t, err)
}
