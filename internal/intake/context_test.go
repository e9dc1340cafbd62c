package intake_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
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

func TestMembersAreBounded(t *testing.T) {
	t.Parallel()
	few := `{"a":[1,2,{"b":"},{,\\\"","c":{}}],"d":{}}`
	require.Equal(t, few, string(intake.Bounded([]byte(few))))
	most := manyMembers(intake.MaxMembers)
	require.Equal(t, string(most), string(intake.Bounded(most)))
	for _, n := range []int{intake.MaxMembers + 1, intake.MaxMembers + 999, intake.MaxMembers + 1000, intake.MaxMembers + 1001, 3 * intake.MaxMembers} {
		for _, at := range []string{`%s`, `{"x":[[%s]],"y":1}`, `{"x":%s,"y":{"z":"}"}}`, `[1,%s]`} {
			got := intake.Bounded(fmt.Appendf(nil, at, manyMembers(n)))
			require.True(t, json.Valid(got))
			var members map[string]int
			from := strings.Index(string(got), `{"k0"`)
			require.NoError(t, json.NewDecoder(strings.NewReader(string(got[from:]))).Decode(&members))
			require.Len(t, members, intake.MaxMembers)
			for _, there := range []int{0, 8999, n - 1000, n - 1} {
				require.Contains(t, members, fmt.Sprintf("k%d", there), n)
			}
			require.Equal(t, strings.Split(at, "%s")[1], string(got[len(got)-len(strings.Split(at, "%s")[1]):]))
		}
	}
	list := `{"alerts":[` + strings.Repeat(`{},`, 3*intake.MaxElements) + `{"last":[]}],"x":1}`
	require.Equal(t, `{"alerts":[`+strings.Repeat(`{},`, intake.MaxElements-1)+`{"last":[]}],"x":1}`,
		string(intake.Bounded([]byte(list))))
	// Large objects within the members of large objects.
	inner := string(manyMembers(20_000))
	outer := strings.Replace(string(manyMembers(30_000)), `"k5":5`, `"k5":`+inner, 1)
	outer = strings.Replace(outer, `"k15000":0`, `"k15000":`+inner, 1)
	outer = strings.Replace(outer, `"k29500":0`, `"k29500":`+inner, 1)
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(intake.Bounded([]byte(outer)), &members))
	require.Len(t, members, intake.MaxMembers)
	for _, name := range []string{"k5", "k29500"} {
		var of map[string]int
		require.NoError(t, json.Unmarshal(members[name], &of))
		require.Len(t, of, intake.MaxMembers)
	}
}

// FuzzBounded checks that a value stays valid, and is the same if its objects are small.
func FuzzBounded(f *testing.F) {
	f.Add([]byte(`{"a":[1,2,{"b":"},{,\\\"","c":{}}],"d":{}}`), 3)
	f.Add([]byte(`[{"a":{"b":[]}}, "x,y" , {} ]`), 20_000)
	f.Fuzz(func(t *testing.T, body []byte, members int) {
		if !json.Valid(body) {
			return
		}
		require.Equal(t, string(body), string(intake.Bounded(body)))
		many := fmt.Appendf(nil, `{"x":%s,"y":[%s,%s]}`, body, manyMembers(max(1, min(members, 30_000))), body)
		require.True(t, json.Valid(intake.Bounded(many)))
	})
}

// FuzzLimitedContext checks that every object becomes a context that fits. A payload that is not handled in linear time
// exceeds the deadline of the fuzzer's worker.
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
