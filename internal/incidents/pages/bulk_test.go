package pages

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// failing changes incidents like a store: together only if none of them has an error, otherwise none of them.
func failing(errs map[incidents.ID]error) change {
	return func(ids ...incidents.ID) (out incidents.Outcomes, err error) {
		for _, id := range ids {
			if errs[id] != nil {
				return incidents.Outcomes{}, errs[id]
			}
			out.Items = append(out.Items, incidents.Outcome{ID: id})
		}
		return out, nil
	}
}

func TestABulkChangeReportsWhatItChangedBeforeAnError(t *testing.T) {
	t.Parallel()
	conflict, offline := fault.New(fault.Conflict, "resolved"), fault.New(fault.Unavailable, "the database is offline")
	for name, c := range map[string]struct {
		errs map[incidents.ID]error
		want string // "" = the error is returned
	}{
		"no error":              {nil, "5 resolved."},
		"conflict":              {map[incidents.ID]error{2: conflict}, "4 resolved, 1 was changed in the meantime (#2)."},
		"error of all":          {map[incidents.ID]error{1: offline}, ""},
		"error before a change": {map[incidents.ID]error{1: conflict, 2: offline}, ""},
		"error after a change": {map[incidents.ID]error{2: conflict, 3: offline},
			"1 resolved, 1 was changed in the meantime (#2), 1 failed (#3), 2 were not tried (#4, #5). The error: the database is offline."},
		"defect after a change": {map[incidents.ID]error{1: conflict, 5: errors.New("secret")},
			"3 resolved, 1 was changed in the meantime (#1), 1 failed (#5). The error: internal error."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := outcome{verb: "resolve", changed: []incidents.ID{1, 2, 3, 4, 5}}
			do := failing(c.errs)
			err := o.apply(func(ids ...incidents.ID) (incidents.Outcomes, error) {
				if len(ids) > 1 && len(c.errs) > 1 {
					return incidents.Outcomes{}, conflict
				}
				return do(ids...)
			})
			if c.want == "" {
				require.ErrorIs(t, err, offline)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, o.text())
		})
	}
}

// many is a list with very many incidents that do not have the title that is searched.
type many struct{ Incidents }

func (many) List(_ context.Context, q filters.Query) (out []incidents.Incident, err error) {
	for k := range q.Limit {
		out = append(out, incidents.Incident{ID: incidents.ID(1_000_000 - k), CreatedAt: time.Now()})
	}
	return out, nil
}

func TestABulkChangeSaysThatItDidNotSearchEverything(t *testing.T) {
	t.Parallel()
	h := Handlers{Deps: Deps{Incidents: many{}}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/incidents/bulk", strings.NewReader(url.Values{
		"verb": {"resolve"}, "all": {"true"}, "back": {"/incidents?show=all&title=none"},
		"newest": {filters.Place{At: time.Now(), ID: 1_000_000}.String()}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	text, err := h.changeTicked(r)
	require.NoError(t, err)
	require.Equal(t, "Nothing was changed: none of the incidents that were searched matches; older ones were not searched.",
		text)
}
