package apiserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// hidden are routes that only answer that the path does not support the method, and the one for aliases with slashes.
var hidden = []string{"get /v0/incidents/claim", "get /v2/alerts/{file}"}

// outside are routes that work without the database. So they are not in the router of the parts.
var outside = []string{"get /livez", "get /readyz", "get /readyz/paging"}

// TestEveryRouteIsDescribed checks that the router and the OpenAPI document have the same routes.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)),
		HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour},
		Webhooks: []string{"alertmanager", "freshping", "grafana",
			"rackspace"}, Mobile: config.Mobile{Activated: true},
		Oncall: config.Oncall{BonusURL: "http://127.0.0.1:1/"}}, server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	servertest.Background(t, a.Run)
	require.Eventually(t, func() bool { return a.parts.Load() != nil }, servertest.Patience, 10*time.Millisecond)
	rec := httptest.NewRecorder()
	a.parts.Load().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name string `json:"name"`
				In   string `json:"in"`
			} `json:"parameters"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &doc))

	served := map[string]bool{}
	for _, o := range outside {
		served[o] = true
	}
	require.NoError(t, chi.Walk(a.parts.Load(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !slices.Contains([]string{"GET", "POST", "PUT", "DELETE", "PATCH"}, method) {
			return nil
		}
		if strings.HasPrefix(route, "/scim/v2/") {
			return nil // SCIM describes itself at /scim/v2/Schemas
		}
		if rest, ok := strings.CutSuffix(route, "/*"); ok {
			if method != http.MethodGet {
				return nil // static files answer every method in the same way
			}
			route = rest + "/{file}"
		}
		if trimmed := strings.TrimSuffix(route, "/"); trimmed != route && trimmed != "" && doc.Paths[route] == nil {
			route = trimmed // the same page with a slash at the end
		}
		served[strings.ToLower(method)+" "+route] = true
		return nil
	}))
	described := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			described[method+" "+path] = true
		}
	}
	var undescribed, unserved []string
	for route := range served {
		if !described[route] && !slices.Contains(hidden, route) {
			undescribed = append(undescribed, route)
		}
	}
	for route := range described {
		if !served[route] {
			unserved = append(unserved, route)
		}
	}
	slices.Sort(undescribed)
	slices.Sort(unserved)
	require.Empty(t, strings.Join(undescribed, "\n"), "served but not described in internal/web/openapi/spec")
	require.Empty(t, strings.Join(unserved, "\n"), "described in internal/web/openapi/spec but not served")
}
