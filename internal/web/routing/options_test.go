package routing_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/web/routing"
)

func TestOptionsNamesTheMethodsThatTwoTablesHaveOnOnePath(t *testing.T) {
	t.Parallel()
	r := chi.NewRouter()
	one, other := []routing.Route{routing.Get("/teams", routing.Read, nil)}, []routing.Route{routing.Post("/teams", routing.Write, nil)}
	routing.Options(r, slices.Concat(one, other))
	rec := httptest.NewRecorder()
	r.ServeHTTP(rec, httptest.NewRequest(http.MethodOptions, "/teams", nil))
	require.Equal(t, "GET, HEAD, POST, OPTIONS", rec.Header().Get("Allow"))
}
