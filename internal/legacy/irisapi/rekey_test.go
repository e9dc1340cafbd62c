package irisapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRekeyLeavesOnlyTheOldSecondaryKey: the route removes the primary key, and the secondary key takes its place, as
// in Iris.
func TestRekeyLeavesOnlyTheOldSecondaryKey(t *testing.T) {
	t.Parallel()
	f := owned(t)
	const path = "/v0/applications/demo"
	accepted := func(keys ...string) (out []bool) {
		for _, key := range keys {
			out = append(out, f.do(caller{app: "demo", key: key}, get, "/v0/incidents?limit=1", "").Code == 200)
		}
		return out
	}
	secondary := func() string {
		var made struct{ Key string }
		f.want(200, `[]`, asAnn, post, path+"/secondary", "")
		require.NoError(t, json.Unmarshal([]byte(f.ok(asAnn, get, path+"/secondary", "")), &made))
		return made.Key
	}
	const first = "demo-key"
	second := secondary()
	require.Equal(t, []bool{true, true}, accepted(first, second), "primary, secondary")
	f.want(200, `[]`, asAnn, post, path+"/rekey", "")
	require.Equal(t, []bool{false, true}, accepted(first, second), "the old primary, the old secondary")
	f.want(200, `{"key":"`+second+`"}`, asAnn, get, path+"/key", "")
	f.want(200, `{"key":null}`, asAnn, get, path+"/secondary", "")

	third := secondary()
	require.Equal(t, []bool{false, true, true}, accepted(first, second, third))
	f.want(200, `[]`, asAnn, post, path+"/rekey", "")
	require.Equal(t, []bool{false, false, true}, accepted(first, second, third),
		"a leaked secondary key ends with the next rotation")
	require.Equal(t, []bool{false, false}, accepted("", "None"))
}
