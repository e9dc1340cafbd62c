package pages

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
)

func TestIncidentsAreGrouped(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var found []incidents.Incident
	for k := range 464 {
		found = append(found, incidents.Incident{ID: incidents.ID(1000 - k), Application: "shop", Team: "db", Active: k > 3,
			Severity: incidents.Warning, CreatedAt: now.Add(-time.Duration(k) * time.Second), Context: json.RawMessage(`{"title": "disk  full"}`)})
	}
	found[7].Severity = incidents.Critical
	found = append(found, incidents.Incident{ID: 1, Application: "shop 2", Resolved: true, CreatedAt: now.Add(-time.Hour)})
	v := url.Values{"show": {"open"}, "group": {"title"}, "label": {"a=b"}}
	groups := groupsOf(found, v, "title")
	require.Len(t, groups, 2)
	require.Equal(t, groupView{Text: "disk full", Href: "/incidents?label=a%3Db&show=open&title=disk+full", Count: 464,
		Severity: incidents.Critical, Newest: now,
		States: []stateCount{{"escalating", "escalating", 460}, {"exhausted", "nobody acknowledged", 4}}}, groups[0])
	require.Equal(t, "/incidents?application=%22shop%22&label=a%3Db&show=open", groupsOf(found, v, "application")[0].Href)
	teams := groupsOf(found, v, "team")
	require.Equal(t, "no team", teams[1].Text)
	require.Contains(t, teams[1].Href, "team=-")
	require.Equal(t, "title", grouping(v))
	require.Empty(t, grouping(url.Values{"group": {"color"}}))
}

func TestRowsShowLabelsThatFilter(t *testing.T) {
	t.Parallel()
	i := incidents.Incident{TitleVariable: "what", Severity: "error", Context: json.RawMessage(
		`{"title": "t", "what": "w", "list": [1], "labels": {"zone": "z", "alertname": "a", "host": "db=3", "link": "https://a.example", "cpu": 4, "b": ""}}`)}
	v := url.Values{"show": {"all"}, "after": {"1.1"}}
	require.Equal(t, []chip{{"host", "db=3", "/incidents?label=host%3Ddb%3D3&show=all"},
		{"cpu", "4", "/incidents?label=cpu%3D4&show=all"}, {"zone", "z", "/incidents?label=zone%3Dz&show=all"}},
		labelChips(i, v, filter{}))
	v["label"] = []string{"cpu=4"}
	chips := labelChips(i, v, readFilter(v))
	require.Len(t, chips, 2)
	require.Equal(t, "/incidents?label=cpu%3D4&label=zone%3Dz&show=all", chips[1].Without)
	f := readFilter(url.Values{"label": {"cpu=4", "cpu=4", "none", "=x", "a="}})
	require.Equal(t, []string{"cpu=4", "a="}, f.Labels)
	require.Equal(t, []chip{{"cpu", "4", "/incidents?label=a%3D"}, {"a", "", "/incidents?label=cpu%3D4"}}, f.chips(url.Values{"label": f.Labels}))
}
