package incidents_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	for context, want := range map[string]string{
		`{"host":"web1","title":"it burns"}`:                                            "web1",
		`{"host":"","title":" it\n burns "}`:                                            "it burns",
		`{"host":5,"summary":"slow"}`:                                                   "slow",
		`{"commonAnnotations":{"summary":"disk full"}}`:                                 "disk full",
		`{"commonLabels":{"alertname":"DiskFull"},"commonAnnotations":{"runbook":"x"}}`: "DiskFull",
		`{"commonLabels":7}`:                                                            "db-plan from db",
		`{}`:                                                                            "db-plan from db",
		`not JSON`:                                                                      "db-plan from db",
		``:                                                                              "db-plan from db",
		`{"title":"` + strings.Repeat("ü", 200) + `"}`: strings.Repeat("ü", 159) + "…",
	} {
		i := incidents.Incident{Plan: "db-plan", Application: "db", TitleVariable: "host", Context: []byte(context)}
		require.Equal(t, want, i.Title(), context)
	}
	require.Equal(t, "x", incidents.Incident{Context: []byte(`{"":"no name","title":"x"}`)}.Title())
}
