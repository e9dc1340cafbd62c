package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sent returns how many webhook deliveries of a peer were accepted, from its metrics.
func (p *pair) sent(peer int) (accepted int) {
	counts := map[string]float64{}
	resp, err := http.Get(p.api[peer] + "/metrics")
	require.NoError(p.s.t, err)
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		series, value, _ := strings.Cut(lines.Text(), " ")
		if name, labels, _ := strings.Cut(series, "{"); strings.Contains(labels, `integration="webhook"`) {
			n, _ := strconv.ParseFloat(value, 64)
			counts[name] += n
		}
	}
	return int(counts["alertmanager_notifications_total"] - counts["alertmanager_notifications_failed_total"])
}

// Two real Alertmanagers post 1,000 groups 20 times each, 40,000 deliveries. They open 1,000 incidents and page each
// once. An incident that opens meanwhile pages too.
func TestAStormOfKnownAlertsPagesEachIncidentOnce(t *testing.T) {
	t.Parallel()
	const groups, rounds = 1000, 20
	s := newStage(t, options{})
	s.alarm()
	s.plan("am", []notification{notify("user", "ann", "low", 3600)})
	_, token, _ := strings.Cut(s.iris(s.env, "", "integration", "add", "storm", "--type", "alertmanager",
		"--application", "watch", "--plan", "am", "--rate", "100000"), "token: ")
	token, _, _ = strings.Cut(token, "\n")
	address := s.apiURL + "/v1/hooks/alertmanager/" + token
	p := startPair(s, address, address, "group_interval: 1500ms, repeat_interval: 500ms")
	var alerts []map[string]any
	for k := range groups {
		alerts = append(alerts, map[string]any{"labels": map[string]string{"alertname": fmt.Sprintf("Disk%d", k)},
			"startsAt": time.Now().Add(-time.Minute).UTC(), "endsAt": time.Now().Add(time.Hour).UTC()})
	}
	p.post(alerts...)
	delivered := func(each int) bool { return p.sent(0) >= each && p.sent(1) >= each }
	s.eventually(2*time.Minute, "a quarter of the deliveries", func() bool { return delivered(groups * rounds / 4) })
	other := s.open("am", "site down")
	s.expect(other, "email", "ann@example.com")
	require.False(t, delivered(groups*rounds), "the storm goes on while the new incident pages")
	s.eventually(4*time.Minute, "the whole storm", func() bool { return delivered(groups * rounds) })
	for _, peer := range p.peers {
		peer.signal(syscall.SIGTERM)
		<-peer.done
	}
	require.Equal(t, groups+1, s.count("select count(*) from incidents"))
	s.eventually(30*time.Second, "a page for each incident",
		func() bool { return len(s.vendors.Log().Accepted()) >= groups+1 })
	s.silentUntil(time.Now().Add(2*time.Second), other)
	paged := map[int64]int{}
	for _, e := range s.vendors.Log().Accepted() {
		paged[e.IncidentID]++
	}
	require.Len(t, paged, groups+1)
	var ids []int64
	for id, pages := range paged {
		require.Equal(t, 1, pages, "incident %d", id)
		ids = append(ids, id)
	}
	require.Zero(t, s.count("select count(*) from timeline_entries where kind = 'updated'"),
		"a repeated delivery is no news")
	s.check(ids)
}
