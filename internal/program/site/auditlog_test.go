package site

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// fakeEntries are entries of the audit log. asked has the last query.
type fakeEntries struct {
	all   []audit.Record
	asked filters.Query
}

func (f *fakeEntries) list(_ context.Context, q filters.Query) ([]audit.Record, error) {
	f.asked = q
	return f.all[:min(q.Limit, len(f.all))], nil
}

func TestPageOfTheAuditLog(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	status, _ := b.get("/audit-log")
	require.Equal(t, 403, status, "administrators only")
	w.ann.Admin = true
	_, body := b.get("/audit-log")
	require.Contains(t, body, "There is no entry yet")
	for id := range 150 {
		w.audited.all = append(w.audited.all, audit.Record{ID: int64(1000 - id), At: time.Now(),
			Entry: audit.Entry{Actor: "<b>ann</b>", Action: audit.PlanSaved,
				Object: "plan db", Changes: []audit.Change{{Field: "step.1.wait", Before: "60", After: "<i>120</i>"}}},
			From: audit.Origin{Kind: audit.Person, Through: "backup", Address: "192.0.2.1", Request: "r1"}})
	}
	status, body = b.get("/audit-log?actor=ann&action=plan+saved&actor_kind=person&until=2026-11-22&object=+")
	require.Equal(t, 200, status)
	for _, text := range []string{"&lt;b&gt;ann&lt;/b&gt;", "<bdi>plan db</bdi>", "1 field changed", `<div class="del"><bdi>60</bdi></div>`, "&lt;i&gt;120&lt;/i&gt;",
		"192.0.2.1", "through <bdi>backup</bdi>", `<option value="plan saved" selected>`, `<option value="person" selected>`, `value="2026-11-22"`,
		`href="/v1/audit/export?action=plan&#43;saved&amp;actor=ann&amp;actor_kind=person&amp;created_before=2026-11-23T00%3A00%3A00Z"`, "Older entries",
		"cursor="} {
		require.Contains(t, body, text)
	}
	require.False(t, slices.ContainsFunc(w.audited.asked.Conditions, func(c filters.Condition) bool { return c.Field == "object" }),
		"an empty field is no filter")
	require.Contains(t, w.audited.asked.Conditions, filters.Condition{Field: "actor_kind", Op: filters.Eq, Values: []any{"person"}})
	w.audited.all = nil
	_, body = b.get("/audit-log?actor=nobody")
	require.Contains(t, body, "No entry matches")
}
