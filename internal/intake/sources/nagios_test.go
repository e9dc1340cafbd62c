package sources

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/stretchr/testify/require"
)

// While a service flaps, or is in a downtime, Nagios reports no problem: what it says in a bad state fires.
func TestNagiosFiresInABadState(t *testing.T) {
	t.Parallel()
	for kind, states := range map[string]map[string]intake.Status{
		"FLAPPINGSTART": {"CRITICAL": intake.Firing, "DOWN": intake.Firing, "OK": "", "": ""},
		"FLAPPINGSTOP":  {"CRITICAL": intake.Firing, "OK": intake.Resolved, "PENDING": ""},
		"DOWNTIMEEND":   {"CRITICAL": intake.Firing, "UP": intake.Resolved}, "DOWNTIMESTART": {"CRITICAL": ""},
		"CUSTOM": {"WARNING": intake.Firing, "OK": ""},
	} {
		for state, want := range states {
			got, err := Nagios(request(`{"type":"` + kind + `","host":"db7","service":"disk","state":"` + state + `"}`))
			require.NoError(t, err)
			if want == "" {
				require.Empty(t, got, "%s in %q", kind, state)
			} else {
				require.Equal(t, want, got[0].Status, "%s in %q", kind, state)
			}
		}
	}
}

// TestNagiosCommand runs the command that Nagios and Icinga call, and decodes what it sends.
func TestNagiosCommand(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 1)
	iris := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		bodies <- string(body)
	}))
	t.Cleanup(iris.Close)
	notify := func(token string, args ...string) error {
		file := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
		return exec.CommandContext(t.Context(), "../../../deploy/nagios/iris-notify",
			append([]string{iris.URL, file}, args...)...).Run()
	}
	require.NoError(t, notify("secret", "PROBLEM", "db7", `C:\ "x"`, "CRITICAL", "3 % free\nof 10 GB", "1772590290",
		"ann", "mine"))
	e := only(t, Nagios, <-bodies)
	require.Equal(t, `db7!C:\ "x"`, e.Key)
	require.Equal(t, "3 % free\nof 10 GB", e.Summary)
	require.Equal(t, map[string]string{"author": "ann", "comment": "mine"}, e.Annotations)
	require.Error(t, notify("wrong", "PROBLEM", "db7", "", "DOWN", "gone"))
	require.Error(t, notify("secret", "PROBLEM"), "arguments are missing")
}
