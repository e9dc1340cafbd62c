package incidents

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestAMergeHasOneLevel(t *testing.T) {
	t.Parallel()
	open := Parent{ID: 9, Found: true, Status: Status{Active: true}}
	require.NoError(t, CheckMerge([]ID{1, 2}, 0, open))
	for name, c := range map[string]struct {
		children     []ID
		withChildren ID
		into         Parent
		want         string
	}{
		"itself":  {[]ID{1, 9}, 0, open, "incident 9 cannot be merged into itself"},
		"unknown": {[]ID{1}, 0, Parent{ID: 9}, "there is no incident 9"},
		"chain": {[]ID{1}, 0, Parent{ID: 9, Found: true, Status: Status{Merged: true}, MergedInto: 5},
			"incident 9 is merged into incident 5: merge into that one"},
		"cycle": {[]ID{5}, 5, Parent{ID: 9, Found: true, Status: Status{Merged: true}, MergedInto: 5},
			"incident 9 is merged into incident 5: merge into that one"},
		"resolved": {[]ID{1}, 0, Parent{ID: 9, Found: true, Status: Status{Resolved: true}},
			"incident 9 is resolved: merge into an open incident"},
		"closed": {[]ID{1}, 0, Parent{ID: 9, Found: true, Status: Status{Closed: true}},
			"incident 9 is closed: merge into an open incident"},
		"parent": {[]ID{1}, 1, open, "other incidents are merged into incident 1: merge into incident 1 instead, or undo those merges first"},
	} {
		err := CheckMerge(c.children, c.withChildren, c.into)
		require.EqualError(t, err, c.want, name)
		require.Equal(t, "into", fault.FieldOf(err), name)
	}
}
