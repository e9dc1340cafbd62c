package intake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/golden" // defines -update
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
)

func TestWithMemberKeepsTheSendersText(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`: `{"title":"a<b"}`, " { \n} ": ` {"title":"a<b"}`, `{"b":1, "a":"x" }`: `{"b":1, "a":"x","title":"a<b"}`,
	} {
		got := string(intake.WithMember(json.RawMessage(object), "title", "a<b"))
		require.Equal(t, want, got)
		require.True(t, json.Valid([]byte(got)), got)
	}
}

// manyMembers is an object with n members of a small value each.
func manyMembers(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i%10)
	}
	return []byte("{" + b.String()[1:] + "}")
}

func TestAContextOfManySmallMembersIsLimited(t *testing.T) {
	t.Parallel()
	for _, n := range []int{8_000, 200_000} {
		body, err := intake.LimitedContext(manyMembers(n))
		require.NoError(t, err)
		require.LessOrEqual(t, incidents.JSONSize(body), incidents.MaxContext)
		require.Greater(t, incidents.JSONSize(body), incidents.MaxContext-200, "no more is left out than must be")
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(body, &got))
		var names []string
		require.NoError(t, json.Unmarshal(got["truncatedMembers"], &names))
		require.Len(t, names, 20)
		require.NotContains(t, got, names[0])
	}
}

// FuzzLimitedContext checks that every object becomes a context that fits. A payload that is not handled in linear time exceeds the
// deadline of the fuzzer's worker.
func FuzzLimitedContext(f *testing.F) {
	f.Add([]byte(`{"a":1,"a":2,"truncatedMembers":["x"]}`), 9000)
	f.Add([]byte(`{"alerts":[{"status":"firing"},{"status":"resolved"}],"truncatedAlerts":3}`), 20_000)
	f.Add([]byte(`{"`+strings.Repeat("é", 40_000)+`":1}`), 0)
	f.Add([]byte(`{"a":"`+strings.Repeat("/", 70_000)+`","b":2}`), 3)
	f.Add([]byte(`{"\u0061\\\"":{"x":["]}\"",{}]},"a":[],"":"","\ufffd":-1.5e3,"a":true}`), 9000)
	f.Fuzz(func(t *testing.T, body []byte, members int) {
		if n := min(members, 20_000); n > 0 && len(body) > 2 && body[0] == '{' && json.Valid(body) {
			more := manyMembers(n)
			body = append(more[:len(more)-1:len(more)-1], append([]byte(","), body[1:]...)...)
		}
		out, err := intake.LimitedContext(body)
		if err != nil || !strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
			return
		}
		require.True(t, json.Valid(out))
		require.LessOrEqual(t, incidents.JSONSize(out), incidents.MaxContext)
		var before, after map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(body, &before))
		require.NoError(t, json.Unmarshal(out, &after))
		for name, value := range after {
			if name != "alerts" && name != "truncatedAlerts" && name != "truncatedMembers" {
				require.JSONEq(t, string(before[name]), string(value), name)
			}
		}
	})
}

func BenchmarkLimitedContextOfManyMembers(b *testing.B) {
	body := manyMembers(1_000_000) // 12 MB
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := intake.LimitedContext(body); err != nil {
			b.Fatal(err)
		}
	}
}
