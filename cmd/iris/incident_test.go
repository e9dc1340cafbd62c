package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIncidentOpen(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	open := []string{"incident", "open", "--plan", "night", "--application", "shop", "--title", "db1 is down", "--severity", "critical",
		"--label", "team=db", "--target", "user:ann", "--context", `{"host":"db1"}`, "--dedup-key", "db1"}
	code, first, errs := iris(t, environ, "", open...)
	require.Zero(t, code, errs)
	var stored string
	require.NoError(t, db.Pool().QueryRow(t.Context(), `select c.context::text from incidents i join incident_contexts c on c.incident_id = i.id
		where i.id::text = $1 and i.active`, strings.TrimSpace(first)).Scan(&stored))
	require.JSONEq(t, `{"host":"db1","title":"db1 is down","severity":"critical","labels":{"team":"db"}}`, stored)
	code, again, errs := iris(t, environ, "", open...)
	require.Zero(t, code, errs)
	require.Equal(t, first, again, "an incident is open with the key")
	require.Contains(t, errs, "none was opened")

	for option, value := range map[string]string{"--severity": "loud", "--application": "none", "--context": "[]", "--target": "team"} {
		code, out, errs := iris(t, environ, "", append(open, option, value)...)
		require.Equal(t, 2, code, option)
		require.Empty(t, out)
		require.Contains(t, strings.ToLower(errs), strings.TrimPrefix(option, "--"), option)
	}
	code, _, errs = iris(t, environ, "", append(open, "--plan", "none")...)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "there is no active plan none")
}
