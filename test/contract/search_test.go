package contract

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSearchFindsWhatTheConsoleHas(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.open()
	s.exec("update incident_contexts set context = json_build_object('host', 'db7', 'zone', 'north')")
	search := func(as caller, query string) (out []string) {
		t.Helper()
		var found struct {
			Results []struct{ Kind, Name, Path string }
		}
		require.NoError(t, json.Unmarshal([]byte(s.do(as, get, "/v1/search?"+query, nil).is(200).body), &found))
		for _, r := range found.Results {
			if r.Path != "" && r.Kind != "action" {
				s.do(as, get, r.Path, nil).is(200)
			}
			out = append(out, r.Kind+" "+r.Name)
		}
		return out
	}
	incident := fmt.Sprintf("incident %d", id)
	for query, want := range map[string]string{
		"q=ops": "team ops", "q=bob": "user bob", "q=pager": "plan pager", "q=demo": "application demo",
		"q=db7": incident, "q=%23" + fmt.Sprint(id): incident, "q=" + fmt.Sprint(id): incident,
		"q=alert+sources": "page Integrations", "q=new+inc": "action New incident", "q=my+phone": "page Contacts and modes",
		"q=zone&kind=label": "label zone=north", "q=db7&kind=user,incident": incident,
	} {
		found := search(bob, query)
		for tries := 0; tries < 20 && !slices.Contains(found, want); tries++ { // on a busy machine a search may end early
			found = search(bob, query)
		}
		require.Contains(t, found, want, query)
	}
	for query, absent := range map[string]string{"q=zone": "label zone=north", "q=bob&kind=plan": "user bob", "q=audit": "page Audit log"} {
		require.NotContains(t, search(bob, query), absent, query)
	}
	require.Contains(t, search(admin, "q=audit"), "page Audit log")
	require.NotContains(t, search(viewer, "q=new+inc"), "action New incident")
	require.Empty(t, search(bob, "q="+url.QueryEscape("#")+"999999"))

	s.exec("insert into teams (name) select 'many' || n from generate_series(1, 30) n")
	require.Equal(t, 5, strings.Count(strings.Join(search(bob, "q=many"), ","), "team many"))
	require.Equal(t, 20, strings.Count(strings.Join(search(bob, "q=many&kind=team"), ","), "team many"))
}

// TestPagesOfTheSearchExist reads every page and action that the search can lead to.
func TestPagesOfTheSearchExist(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	seen := map[string]bool{}
	for letter := 'a'; letter <= 'z'; letter++ {
		var found struct{ Results []struct{ Path string } }
		require.NoError(t, json.Unmarshal([]byte(s.do(admin, get, "/v1/search?kind=page,action&q="+string(letter), nil).is(200).body), &found))
		for _, r := range found.Results {
			if !seen[r.Path] {
				seen[r.Path] = true
				require.Equal(t, 200, s.do(admin, get, r.Path, nil).status, r.Path)
			}
		}
	}
	require.Greater(t, len(seen), 20)
}
