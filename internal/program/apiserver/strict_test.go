package apiserver

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/mount"
)

var parameter = regexp.MustCompile(`\{[^}]+\}`)

// TestCompatibilitySettingsDoNotAffectV1 sets every compatibility setting that weakens the older APIs. The routes below
// /v1 still refuse requests without valid credentials, except the routes of the calendar.
func TestCompatibilitySettingsDoNotAffectV1(t *testing.T) {
	t.Parallel()
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)),
		HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour},
		Compatibility: config.Compatibility{AnonymousReads: true, ChangeAnyPlan: true,
			ApplicationsClaimForAnyone: true, SessionsActForAnyone: true,
			DisableAuth: true, OncallAnonymousReads: true, TeamAdminsEditMembers: true, OncallDebugAuth: true, DummyRoles: true}}, server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	servertest.Background(t, a.Run)
	require.Eventually(t, func() bool { return a.parts.Load() != nil }, servertest.Patience, 10*time.Millisecond)
	exempt := map[string]bool{"POST /v1/tokens/exchange": true} // the code in the body is the credential
	calendar := mount.New(nil)
	pages.Mount(calendar, planning.New(planning.Deps{}), calendaring.New(calendaring.Deps{}),
		personal.New(personal.Deps{}), calendaring.NewRoles(nil), calendaring.NewSearch(nil, nil))
	pages.MountTeams(calendar, teams.New(teams.Deps{Store: struct{ teams.Store }{}}))
	pagesusers.MountContacts(calendar, users.NewContacts(nil, nil, ""))
	for _, rt := range calendar.Routes() {
		exempt[rt.Method+" "+rt.Path] = true
	}
	walked := 0
	require.NoError(t, chi.Walk(a.parts.Load(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.HasPrefix(route, "/v1/") || method == http.MethodOptions || exempt[method+" "+route] || method == http.MethodHead && exempt["GET "+route] {
			return nil
		}
		walked++
		for _, proof := range []string{"", "hmac iris:anything"} {
			r := httptest.NewRequest(method, parameter.ReplaceAllString(route, "1"), http.NoBody)
			if proof != "" {
				r.Header.Set("Authorization", proof)
			}
			rec := httptest.NewRecorder()
			a.parts.Load().ServeHTTP(rec, r)
			require.Equal(t, http.StatusUnauthorized, rec.Code, "%s %s with %q: %s", method, route, proof, rec.Body)
		}
		return nil
	}))
	require.Greater(t, walked, 40, "routes below /v1")
}
