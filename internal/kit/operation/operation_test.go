package operation_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// visit is an input with tags and a rule of its own.
type visit struct {
	Name operation.Text `json:"name" required:"false"`
	Mode string         `json:"mode,omitempty" enum:"call,walk"`
	Days int            `json:"days" minimum:"1" maximum:"7"`
}

func (v visit) Check() error {
	var wrong fault.Wrong
	wrong.If(v.Name == "", "name", "say who comes")
	wrong.If(v.Name == "nobody", "name", "nobody cannot come")
	wrong.If(v.Name == "nobody" && v.Days > 1, "days", "nobody comes for one day")
	return wrong.Err()
}

var come = operation.Define[visit, string](operation.Doc{Name: "visit.create", Method: http.MethodPost,
	Path: "/v1/visits", Needs: operation.Member})

func TestDoRefusesBeforeTheFunctionRuns(t *testing.T) {
	t.Parallel()
	ran := 0
	op := come.By(func(context.Context, operation.Actor, visit) (string, error) {
		ran++
		return "done", nil
	})
	good := visit{Name: "ann", Days: 2}
	for name, c := range map[string]struct {
		role   operation.Role
		in     visit
		kind   fault.Kind
		fields []string
	}{
		"nobody known": {operation.Nobody, good, fault.Unauthenticated, nil},
		"a reader":     {operation.Reader, good, fault.Forbidden, nil},
		"two broken tags": {operation.Member, visit{Name: "ann", Mode: "fly", Days: 9}, fault.Invalid,
			[]string{"days", "mode"}},
		"a broken rule": {operation.Admin, visit{Days: 1}, fault.Invalid, []string{"name"}},
		"several rules": {operation.Admin, visit{Name: "nobody", Days: 2}, fault.Invalid,
			[]string{"name", "days"}},
		"a reader with junk": {operation.Reader, visit{}, fault.Forbidden, nil},
	} {
		_, err := op.Do(t.Context(), operation.Actor{Role: c.role}, c.in)
		var f *fault.Error
		require.ErrorAs(t, err, &f, name)
		require.Equal(t, c.kind, f.Kind, name)
		var fields []string
		if f.Field != "" {
			fields = append(fields, f.Field)
		}
		for _, other := range f.Others {
			fields = append(fields, other.Name)
		}
		require.ElementsMatch(t, c.fields, fields, name)
	}
	require.Zero(t, ran)
	out, err := op.Do(t.Context(), operation.Actor{Role: operation.Member}, good)
	require.NoError(t, err)
	require.Equal(t, "done", out)
	require.ErrorIs(t, operation.Actor{Role: operation.Member}.Require(operation.Admin), operation.ErrAdminOnly)
}

func TestAReadOnlyAdministratorReadsEverythingButSecretsAndChangesNothing(t *testing.T) {
	t.Parallel()
	by := operation.Actor{Role: operation.Reader, ReadOnlyAdmin: true}
	for _, c := range []struct {
		method      string
		needs       operation.Role
		secret, may bool
	}{
		{http.MethodGet, operation.Admin, false, true},
		{http.MethodGet, operation.Member, true, false},
		{http.MethodPost, operation.Admin, false, false},
		{http.MethodDelete, operation.Member, false, false},
	} {
		op := operation.Define[operation.None, operation.None](operation.Doc{Method: c.method, Needs: c.needs, Secret: c.secret}).
			By(func(_ context.Context, _ operation.Actor, none operation.None) (operation.None, error) {
				return none, nil
			})
		_, err := op.Do(t.Context(), by, operation.None{})
		require.Equal(t, c.may, err == nil, "%s: %v", c.method, err)
		_, err = op.Do(t.Context(), operation.Actor{Role: operation.Reader}, operation.None{})
		require.True(t, fault.Is(err, fault.Forbidden), c.method)
	}
}

type one struct {
	ID int64 `path:"visit"`
}

type change struct {
	one
	Body visit `json:"body"`
}

type filter struct {
	operation.Paging
	Over bool `query:"over" json:"over,omitempty"`
}

func TestRequestsHaveTheMembersInTheirPlaces(t *testing.T) {
	t.Parallel()
	path, body := operation.Request(come, visit{Name: "ann"})
	require.Equal(t, "/v1/visits", path)
	require.Equal(t, visit{Name: "ann"}, body)
	edit := operation.Define[change, string](operation.Doc{Method: http.MethodPut, Path: "/v1/visits/{visit}"})
	path, body = operation.Request(edit, change{one{7}, visit{Name: "bob"}})
	require.Equal(t, "/v1/visits/7", path)
	require.Equal(t, visit{Name: "bob"}, body)
	list := operation.Define[filter, string](operation.Doc{Method: http.MethodGet, Path: "/v1/visits"})
	path, body = operation.Request(list, filter{Paging: operation.Paging{Limit: 5}, Over: true})
	require.Equal(t, "/v1/visits?limit=5&over=true", path)
	require.Nil(t, body)
	path, _ = operation.Request(list, filter{})
	require.Equal(t, "/v1/visits", path)
	require.Equal(t, []int{http.StatusCreated, http.StatusOK}, []int{come.Status, list.Status})
}

func TestAnEmptyTextIsNull(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(visit{Days: 1})
	require.NoError(t, err)
	require.JSONEq(t, `{"name": null, "days": 1}`, string(raw))
	v := visit{Name: "before"}
	require.NoError(t, json.Unmarshal([]byte(`{"name": null}`), &v))
	require.Empty(t, v.Name)
	require.NoError(t, json.Unmarshal([]byte(`{"name": "ann \"a\""}`), &v))
	require.EqualValues(t, `ann "a"`, v.Name)
}

func TestPagesFollowEachOther(t *testing.T) {
	t.Parallel()
	number := func(n int64) int64 { return n }
	first := operation.PageOf(operation.Paging{Limit: 2}, []int64{9, 8, 7}, number)
	require.Equal(t, []int64{9, 8}, first.Items)
	before, err := operation.Paging{Cursor: *first.Next}.Before()
	require.NoError(t, err)
	require.EqualValues(t, 8, before)
	last := operation.PageOf[int64](operation.Paging{}, nil, number)
	require.NotNil(t, last.Items, "JSON has [] and not null")
	require.Nil(t, last.Next)
	for _, cursor := range []string{"no", "MA", "LTE", operation.CursorOf(int64(time.Second)) + "!"} {
		_, err := operation.Paging{Cursor: cursor}.Before()
		require.True(t, fault.Is(err, fault.Invalid), cursor)
	}
}
