package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// promtool builds the real promtool from its own module.
func promtool(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "promtool")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "remove_all_sd", "-o", path,
		"github.com/prometheus/prometheus/cmd/promtool")
	build.Dir = "../../tools/promtool"
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// scrape returns the gauges of Iris without labels at an admin listener.
func scrape(t *testing.T, admin string) map[string]float64 {
	t.Helper()
	resp, err := http.Get("http://" + admin + "/metrics")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	out := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil && strings.HasPrefix(name, "iris_app_") && !strings.Contains(name, "{") {
			out[name] = value
		}
	}
	return out
}

// Every processor is killed. iris-api takes an incident, and what it exports makes the rules of deploy/alerts.yaml
// fire.
func TestTheAlertsFireWhenEveryProcessorIsKilled(t *testing.T) {
	t.Parallel()
	admin := freeAddr(t)
	s := newStage(t, options{processors: 2,
		api: func([]string) []string { return []string{"IRIS_ADMIN_ADDR=" + admin} }})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 2)
	require.InDelta(t, 1, scrape(t, admin)["iris_app_paging_ready"], 0)
	for _, p := range s.processors {
		p.signal(syscall.SIGKILL)
		<-p.done
	}
	id := s.open("burst", "nobody works")
	var seen map[string]float64
	s.eventually(time.Minute, "iris-api to export that a step is overdue", func() bool {
		seen = scrape(t, admin)
		return seen["iris_app_oldest_due_step_seconds"] > 31 && seen["iris_app_paging_ready"] == 0
	})
	for path, status := range map[string]int{"/readyz": 200, "/readyz/paging": 503} {
		resp, err := http.Get(s.apiURL + path)
		require.NoError(t, err)
		_ = resp.Body.Close()
		require.Equal(t, status, resp.StatusCode, path)
	}

	rules, err := filepath.Abs("../../deploy/alerts.yaml")
	require.NoError(t, err)
	var test strings.Builder
	fmt.Fprintf(&test, "rule_files: [%q]\nevaluation_interval: 15s\ntests:\n  - interval: 15s\n    input_series:\n",
		rules)
	for name, value := range seen {
		fmt.Fprintf(&test, "      - series: '%s{job=\"iris-api\"}'\n        values: '%gx20'\n", name, value)
	}
	test.WriteString("    promql_expr_test:\n")
	for _, alert := range []string{"IrisNotPaging", "IrisNoProcessor", "IrisStepsOverdue", "IrisBucketsWithoutOwner"} {
		fmt.Fprintf(&test, "      - expr: ALERTS{alertstate=\"firing\", alertname=%q}\n        eval_time: 3m\n        exp_samples:\n", alert)
		fmt.Fprintf(&test, "          - labels: 'ALERTS{alertname=%q, alertstate=\"firing\", severity=\"critical\"}'\n            value: 1\n", alert)
	}
	file := filepath.Join(t.TempDir(), "killed.yaml")
	require.NoError(t, os.WriteFile(file, []byte(test.String()), 0o600))
	out, err := exec.CommandContext(t.Context(), promtool(t), "test", "rules", file).CombinedOutput()
	require.NoError(t, err, string(out))

	s.addProcessor()
	s.expect(id, "email", "ann@example.com")
}
