package page

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/alexedwards/scs/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func TestAPICallsHandlersInTheProcess(t *testing.T) {
	t.Parallel()
	errs := wire.NewErrors(zap.NewNop())
	mux := http.NewServeMux()
	var asked struct{ cookie, match, plan, body string }
	mux.HandleFunc("PUT /v1/plans/{plan}", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked.cookie, asked.match, asked.plan, asked.body = r.Header.Get("Cookie"), r.Header.Get("If-Match"), r.PathValue("plan"), string(body)
		_, _ = io.WriteString(w, "5")
	})
	mux.HandleFunc("GET /v1/wrong", func(w http.ResponseWriter, r *http.Request) {
		errs.Write(w, r, fault.Invalidf("steps[0].wait", "wait must be a number"))
	})
	mux.HandleFunc("GET /v0/gone", func(w http.ResponseWriter, r *http.Request) {
		errs.Write(w, r, fault.New(fault.NotFound, "no such plan"))
	})
	mux.HandleFunc("GET /v1/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /v1/odd", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	r := httptest.NewRequest(http.MethodPost, "/plans/x", nil)
	r.Header.Set("Cookie", "iris-auth=secret")
	sessions := scs.New()
	ctx, err := sessions.Load(r.Context(), "")
	require.NoError(t, err)
	api := (&Pages{apis: mux, Sessions: sessions}).API(r.WithContext(ctx))

	var out int
	require.NoError(t, api.IfMatch(`"7"`).Send(http.MethodPut, Path("/v1/plans/%s", "db/on call"),
		map[string]int{"wait": 4}, &out))
	require.Equal(t, 5, out)
	require.Equal(t, "iris-auth=secret", asked.cookie)
	require.Equal(t, `"7"`, asked.match)
	require.Equal(t, "db/on call", asked.plan)
	require.JSONEq(t, `{"wait":4}`, asked.body)
	err = api.Get("/v1/wrong", &out)
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	require.Equal(t, "steps[0].wait", fault.FieldOf(err))
	require.Equal(t, fault.NotFound, fault.KindOf(api.Get("/v0/gone", &out)),
		"Iris's body of a 404 is empty, but the fault is not lost")
	require.NoError(t, api.Get("/v1/empty", &out))
	require.ErrorContains(t, api.Get("/v1/odd", &out), "status 418")
}

func TestRefusedFormsAreShownAgain(t *testing.T) {
	t.Parallel()
	p := &Pages{}
	for kind, status := range map[fault.Kind]int{fault.Invalid: 400, fault.Conflict: 409, fault.Stale: 412, fault.Forbidden: 403, fault.Unauthenticated: 403, fault.Throttled: 429} {
		refusal, ok := p.Refused(nil, nil, fault.New(kind, "text"))
		require.True(t, ok, kind)
		require.Equal(t, status, refusal.Status)
		require.NotEmpty(t, refusal.Text)
	}
	refusal, ok := p.Refused(nil, nil, &fault.Error{Kind: fault.NotFound, Field: "team", Message: "there is no team x"})
	require.True(t, ok, "a form may name an object that does not exist")
	require.Equal(t, "team", refusal.Field)
}
