package audit

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	type step struct {
		Wait   time.Duration
		Target *string
	}
	type plan struct {
		Name       string
		MaxPerHour int
		Enabled    bool
		Steps      []step
		Extra      map[string]string
		Secret     string `audit:"-"`
		At         time.Time
		Raw        json.RawMessage
		hidden     int
	}
	team := "db"
	before := plan{Name: "a", MaxPerHour: 3, Steps: []step{{Wait: time.Minute}}, Extra: map[string]string{"x": "1"},
		Secret: "s", hidden: 1,
		Raw: json.RawMessage(`{"deep": {"n": 1000000, "list": [1, 2]}, "null": null}`)}
	after := plan{Name: "a", Enabled: true, Steps: []step{{Wait: 2 * time.Minute, Target: &team}},
		Extra: map[string]string{"y": "2"}, Secret: "t", hidden: 2,
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Raw: json.RawMessage(`{"deep": {"n": 1000001, "list": [1]}}`)}
	require.Equal(t, []Change{
		{"at", "", "2026-01-02T03:04:05Z"}, {"enabled", "false", "true"}, {"extra.x", "1", ""}, {"extra.y", "",
			"2"}, {"max_per_hour", "3", ""},
		{"raw.deep.list[1]", "2", ""}, {"raw.deep.n", "1000000", "1000001"}, {"steps[0].target", "",
			"db"}, {"steps[0].wait", "1m0s", "2m0s"},
	}, Diff(before, after))
	require.Empty(t, Diff(after, after))
	require.Equal(t, []Change{{"name", "", "new"}}, Diff(nil, struct {
		Name string
		On   bool
	}{Name: "new"}), "what is off or empty in a new object is not listed")
	long := Diff(nil, map[string]string{"text": strings.Repeat("ä", 3000)})
	require.Len(t, long[0].After, maxValue+len("…"))
}

func TestOriginsTravelInTheContext(t *testing.T) {
	t.Parallel()
	require.Equal(t, Origin{Kind: Program}, From(t.Context()))
	ctx := With(t.Context(), Origin{Kind: Person, Actor: "ann", ActorID: 7, Through: "app", TokenID: 3,
		Address: "192.0.2.1", Request: "r1"})
	require.Equal(t, Origin{Kind: Provider, Actor: "corp", ActorID: 2, Address: "192.0.2.1", Request: "r1"},
		From(As(ctx, Provider, 2, "corp")))
}

// The list of actions is closed, and docs/audit.md has it.
func TestActionsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/audit.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "## Actions")
	require.True(t, found)
	var documented []Action
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1) {
		documented = append(documented, Action(m[1]))
	}
	require.Equal(t, Actions(), documented)
	seen := map[Action]bool{}
	for _, a := range Actions() {
		require.False(t, seen[a], a)
		seen[a] = true
		require.True(t, a.Known())
	}
	require.False(t, Action("something else").Known())
	for name, a := range calendar {
		require.True(t, a.Known(), name)
	}
	for _, k := range Kinds() {
		require.Contains(t, string(page), "`"+string(k)+"`")
	}
}
