package program

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/program/apiserver"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/processor"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// The manual names exactly the metrics that exist, and the log lines that it quotes exist in the code.
func TestTheManualListsExactlyTheMetricsThatExist(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	manual := string(raw)

	named := map[string]bool{}
	for _, name := range regexp.MustCompile("iris_[a-z_]+").FindAllString(manual, -1) {
		named[name] = true
	}
	exported := metricsOfBothServers(t)
	for name := range exported {
		require.True(t, named[name], "docs/operations.md does not name %s", name)
	}
	for name := range named {
		require.True(t, exported[name], "docs/operations.md names %s, which does not exist", name)
	}
	rules, err := os.ReadFile("../../deploy/alerts.yaml")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`iris_\w+`).FindAllString(string(rules), -1) {
		require.True(t, exported[name], "deploy/alerts.yaml names %s, which does not exist", name)
	}

	runbooks, err := os.ReadFile("../../docs/runbooks.md")
	require.NoError(t, err)
	alerts := strings.Split(string(rules), "- alert: ")[1:]
	require.Greater(t, len(alerts), 5)
	for _, rule := range alerts {
		name, _, _ := strings.Cut(rule, "\n")
		require.Contains(t, rule, "/docs/runbooks.md#"+strings.ToLower(name)+"\n", "%s has no runbook_url", name)
		require.Contains(t, string(runbooks), "\n## "+name+"\n", "docs/runbooks.md has no section")
	}
	require.Equal(t, len(alerts), strings.Count(string(runbooks), "\n## "), "each section belongs to an alert")

	_, table, found := strings.Cut(manual, "## What the log says")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	lines := regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(table, -1)
	require.Greater(t, len(lines), 5)
	source := allSource(t)
	for _, line := range lines {
		require.True(t, bytes.Contains(source, []byte(`"`+line[1]+`"`)), "nothing logs %q", line[1])
	}
}

// metricsOfBothServers returns the names of what iris-api and message-processor register, in use or not yet.
func metricsOfBothServers(t *testing.T) map[string]bool {
	t.Helper()
	c := servertest.Common(pgtest.URL(t))
	registries := []*prometheus.Registry{server.NewRegistry("test"), server.NewRegistry("test")}
	a, err := apiserver.New(config.API{Common: c, HTTP: config.HTTP{Addr: "127.0.0.1:0"},
		Intake: config.Intake{SMTP: config.IntakeSMTP{Addr: "127.0.0.1:0"}}},
		server.Deps{Log: servertest.Log(t), Registry: registries[0]})
	require.NoError(t, err)
	api := "http://" + a.Addr()
	servertest.Background(t, a.Run)
	p, err := processor.New(config.Processor{Common: c, Gossip: config.Gossip{Addr: "off"}},
		server.Deps{Log: servertest.Log(t), Registry: registries[1]})
	require.NoError(t, err)
	servertest.Background(t, p.Run)
	servertest.Eventually(t, api+"/readyz/paging", 200, `"ready": true`)
	servertest.Eventually(t, "http://"+p.AdminAddr()+"/readyz", 200, `"ready": true`)

	names := map[string]bool{}
	for _, reg := range registries {
		descriptions := make(chan *prometheus.Desc)
		go func() {
			defer close(descriptions)
			reg.Describe(descriptions)
		}()
		for d := range descriptions {
			name := regexp.MustCompile(`fqName: "(iris_[a-z_]+)"`).FindStringSubmatch(d.String())
			if name != nil {
				names[name[1]] = true
			}
		}
	}
	return names
}

func allSource(t *testing.T) []byte {
	t.Helper()
	var all []byte
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		all = append(all, raw...)
		return err
	}))
	return all
}
