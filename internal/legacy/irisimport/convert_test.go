package irisimport

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// row makes a row of "column=value" pairs; a column without a value is null.
func row(pairs ...string) (*imports.Row, *imports.Class) {
	values := map[string][]byte{}
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if values[name] = nil; ok {
			values[name] = []byte(value)
		}
	}
	c := &imports.Class{Name: "rows"}
	return imports.NewRow(c, "row", values), c
}

func said(c *imports.Class) string {
	var out []string
	for _, r := range c.Reasons {
		out = append(out, string(r.Kind)+": "+r.Text)
	}
	return strings.Join(out, "; ")
}

func testImporter() *importer {
	im := newImporter(imports.Loader{Report: imports.NewReport("", nil), Modes: imports.Modes{"im": "slack"}},
		Options{})
	im.Names["mode_id"] = map[int64]string{1: "email", 2: "sms", 3: "im", 4: "hipchat"}
	im.Names["priority_id"], im.Names["role_id"] = map[int64]string{1: "urgent",
		2: "whenever"}, map[int64]string{1: "user"}
	im.targets = map[int64]target{10: {"user", "ann"}, 20: {"team", "db"}}
	return im
}

func TestContextOf(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]string{
		"context":                        {"{}", "note: it has no context; an empty one was taken"},
		"context=null":                   {"{}", "note: it has no context; an empty one was taken"},
		`context={"b": 1.50, "a": null}`: {`{"b": 1.50, "a": null}`, ""},
		`context=[1]`:                    {`[1]`, ""},
		`context={"a": "cut`: {`{"unreadable_context":"{\"a\": \"cut"}`,
			"note: its context is not JSON; the text was put into the variable unreadable_context"},
		"context= ": {"{}", "note: it has no context; an empty one was taken"},
		`context={"a": NaN, "b": [-Infinity, Infinity, "NaN \"Infinity"]}`: {
			`{"a": "nan", "b": ["-inf", "inf", "NaN \"Infinity"]}`, "note: context: NaN and Infinity, which are not JSON, became texts",
		},
		`context={"a": NaNa}`: {`{"unreadable_context":"{\"a\": NaNa}"}`,
			"note: its context is not JSON; the text was put into the variable unreadable_context"},
		`context={"a": "\ud83d"}`: {`{"a": "\ud83d"}`, ""},
	} {
		r, c := row(value)
		require.Equal(t, want[0], string(contextOf(r, "context").(json.RawMessage)), value)
		require.Equal(t, want[1], said(c), value)
	}
}

func FuzzContextOf(f *testing.F) {
	for _, s := range []string{"", "null", "{}", `{"a": "\u0000"}`, "{\"a\": \"\x00\xff\"}", `{"a": NaN}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := imports.NewRow(&imports.Class{}, "", map[string][]byte{"context": raw})
		value := contextOf(r, "context").(json.RawMessage)
		require.True(t, json.Valid(value), "%q", value)
		require.NotContains(t, string(value), "\x00")
	})
}

func TestTextsFromOldColumns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mode, subject, body, html, said string
		pairs                           []string
	}{
		"as now": {mode: "email", subject: "S", body: "B", pairs: []string{"subject=S", "body=B"}},
		"both": {mode: "sms", body: "B", pairs: []string{"subject=", "body=B", "sms=old"},
			said: "note: its old column sms, which Iris no longer reads, was left out"},
		"only old text": {mode: "sms", body: "old", pairs: []string{"subject=", "body=", "sms=old", "call"}},
		"only old mail": {mode: "email", subject: "ES", body: "ET", html: "EH",
			pairs: []string{"subject=", "body=", "email_subject=ES", "email_text=ET", "email_html=EH"}},
		"of another mode": {mode: "call", body: "c", pairs: []string{"subject=", "body=", "call=c", "email_html=EH"},
			said: "note: its old column email_html, which Iris no longer reads, was left out"},
		"nothing": {mode: "slack", pairs: []string{"subject=", "body="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := row(tc.pairs...)
			subject, body, html := oldTexts(r, tc.mode)
			require.Equal(t, []string{tc.subject, tc.body, tc.html, tc.said}, []string{subject, body, html, said(c)})
		})
	}
}

func TestTargetsOfSteps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pairs []string
		want  string
		said  string
	}{
		"a target":     {pairs: []string{"role_id=1", "target_id=10", "dynamic_index"}, want: "user 10 <nil> true"},
		"the incident": {pairs: []string{"role_id", "target_id", "dynamic_index=0"}, want: "<nil> <nil> 0 true"},
		"both": {pairs: []string{"role_id=1", "target_id=10", "dynamic_index=2"}, want: "<nil> <nil> 2 true",
			said: "note: it has both a target and a dynamic index; the dynamic index is used"},
		"nobody": {pairs: []string{"role_id=1", "target_id", "dynamic_index"}, want: "<nil> <nil> <nil> false",
			said: "not taken: it pages nobody: it has neither a role and target nor a dynamic index"},
		"no such role": {pairs: []string{"role_id=9", "target_id=10", "dynamic_index"}, want: " 10 <nil> false",
			said: "not taken: its role_id refers to a row that does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := row(tc.pairs...)
			role, target, index := testImporter().whom(r)
			require.Equal(t, tc.want, fmt.Sprint(role, " ", target, " ", index, " ", !r.Dropped()))
			require.Equal(t, tc.said, said(c))
		})
	}
}

func TestTracking(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pairs []string
		want  string
		lost  bool
	}{
		"none": {pairs: []string{"tracking_type", "tracking_key", "tracking_template"}, want: "<nil> <nil>"},
		"email": {pairs: []string{"tracking_type=email", "tracking_key=a@b", `tracking_template={"app": {}}`},
			want: "email a@b"},
		"another name": {pairs: []string{"tracking_type=im", "tracking_key=a", "tracking_template={}"},
			want: "slack a"},
		"unknown mode": {pairs: []string{"tracking_type=hipchat", "tracking_key=a", "tracking_template={}"},
			want: "<nil> <nil>", lost: true},
		"cut off": {pairs: []string{"tracking_type=email", "tracking_key=a@b", `tracking_template={"app"`},
			want: "<nil> <nil>", lost: true},
		"no object": {pairs: []string{"tracking_type=email", "tracking_key=a@b", `tracking_template=[]`},
			want: "<nil> <nil>", lost: true},
		"no template": {pairs: []string{"tracking_type=email", "tracking_key=a@b", "tracking_template"},
			want: "<nil> <nil>"},
		"no type at all": {pairs: []string{"tracking_type=", "tracking_key=a@b", "tracking_template={}"},
			want: "<nil> <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := row(tc.pairs...)
			mode, key, _ := testImporter().tracking(r)
			require.Equal(t, tc.want, fmt.Sprint(mode, " ", key))
			require.Equal(t, tc.lost, strings.Contains(said(c), "not taken"), said(c))
		})
	}
}

func TestIncident(t *testing.T) {
	t.Parallel()
	created, updated := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2024, 1, 2, 4, 0, 0, 0, time.UTC)
	base := []string{"id=7", "plan_id=1", "application_id=2", "created=2024-01-02 03:04:05",
		"updated=2024-01-02 04:00:00", "context={}", "owner_id", "current_step=1"}
	for name, tc := range map[string]struct {
		pairs  []string
		want   []any // updated, owner, step, active, resolved
		reason string
	}{
		"escalating": {[]string{"active=1", "resolved=0"}, []any{updated, nil, int64(1), true, false}, ""},
		"claimed": {[]string{"active=0", "resolved=0", "owner_id=10"},
			[]any{updated, int64(10), int64(1), false, false}, ""},
		"resolved and active": {[]string{"active=1", "resolved=1"}, []any{updated, nil, int64(1), false, true},
			"was resolved"},
		"owned and active": {[]string{"active=1", "resolved=0", "owner_id=10"},
			[]any{updated, int64(10), int64(1), false, false}, "has an owner"},
		"never updated": {[]string{"active=0", "resolved=0", "updated=0000-00-00 00:00:00"},
			[]any{created, nil, int64(1), false, false}, "updated is a zero date"},
		"an impossible step": {[]string{"active=0", "resolved=0", "current_step=-3"},
			[]any{updated, nil, int64(0), false, false}, "current step is out of range"},
		"of an Iris before that": {[]string{"active=1"}, []any{updated, nil, int64(1), true, false}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := row(append(base[:len(base):len(base)], tc.pairs...)...)
			values, ok := incidentTable().Convert(r)
			require.True(t, ok)
			require.Equal(t, created, values[3])
			require.Equal(t, tc.want, values[4:9])
			if tc.reason == "" {
				require.Empty(t, said(c))
			}
			require.Contains(t, said(c), tc.reason)
		})
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	im := testImporter()
	for id, want := range map[string]string{"1": "email", "3": "slack", "4": "", "9": ""} {
		r, c := row("mode_id=" + id)
		mode := im.Mode(r, "mode_id")
		require.Equal(t, want == "", r.Dropped())
		if want != "" {
			require.Equal(t, want, mode)
			require.Empty(t, said(c))
		} else {
			require.Contains(t, said(c), "not taken")
		}
	}
	require.NoError(t, im.Modes.Check())
	require.True(t, fault.Is(imports.Modes{"im": "fax"}.Check(), fault.Invalid))
}

// test/import checks that every column of Iris is either read or listed here as not imported. This test checks that
// docs/importing.md names the listed columns.
func TestColumnsThatAreNotImportedAreDocumented(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../docs/importing.md")
	require.NoError(t, err)
	moving, _, _ := strings.Cut(string(docs), "## Moving from Oncall")
	for table, columns := range derived {
		for _, column := range strings.Fields(columns) {
			require.Contains(t, moving, strings.TrimSuffix("`"+table+"."+column, ".*")+"`")
		}
	}
}

func TestRelaysMustExistInTheSource(t *testing.T) {
	t.Parallel()
	im := testImporter()
	im.Names["application_id"], im.options.Relays = map[int64]string{1: "iris-relay", 2: "db"}, []string{"Iris-Relay"}
	require.NoError(t, im.checkRelays())
	require.True(t, im.isRelay("iris-relay"))
	require.False(t, im.isRelay("db"))
	im.options.Relays = append(im.options.Relays, "gone")
	err := im.checkRelays()
	require.True(t, fault.Is(err, fault.Invalid))
	require.ErrorContains(t, err, "--relay gone: the source has no application of that name")
}
