package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// alertmanager builds the real Alertmanager from its own module. It needs no web assets.
func alertmanager(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "alertmanager")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path,
		"github.com/prometheus/alertmanager/cmd/alertmanager")
	build.Dir = "../../tools/alertmanager"
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// delivered is a delivery that the network forwarded.
type delivered struct {
	peer, status, alert string
	incident            int64 // from the answer; 0 = none
}

// network forwards the deliveries of the peers to Iris. It can delay the firing deliveries of the slow peer.
type network struct {
	to     string
	mu     sync.Mutex
	passed []delivered
	gate   chan struct{} // closed = open
	held   int
}

func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var group struct {
		Status      string            `json:"status"`
		GroupLabels map[string]string `json:"groupLabels"`
	}
	_ = json.Unmarshal(body, &group)
	d := delivered{peer: strings.Trim(r.URL.Path, "/"), status: group.Status, alert: group.GroupLabels["alertname"]}
	if d.peer == "slow" && d.status == "firing" {
		n.mu.Lock()
		gate := n.gate
		n.held++
		n.mu.Unlock()
		<-gate
	}
	// The network also forwards a delivery whose sender stopped waiting.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.to, bytes.NewReader(body))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	answer, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	d.incident, _ = strconv.ParseInt(strings.TrimSpace(string(answer)), 10, 64)
	if resp.StatusCode == http.StatusCreated {
		n.mu.Lock()
		n.passed = append(n.passed, d)
		n.mu.Unlock()
	}
	w.WriteHeader(resp.StatusCode)
}

// find returns the first forwarded delivery of a peer with this status and alert.
func (n *network) find(peer, status, alert string) (delivered, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.passed {
		if d.peer == peer && d.status == status && d.alert == alert {
			return d, true
		}
	}
	return delivered{}, false
}

func (n *network) waiting() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held
}

// holdUp delays firing deliveries of the slow peer until the returned function is called.
func (n *network) holdUp() (release func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	gate := make(chan struct{})
	n.gate, n.held = gate, 0
	return sync.OnceFunc(func() { close(gate) })
}

// pair is a cluster of two real Alertmanagers. Their gossip is cut off, so that both deliver every alert.
type pair struct {
	s     *stage
	net   *network
	api   []string // addresses of the fast and the slow peer
	peers []*process
}

// newPair starts a pair whose deliveries go through a network.
func newPair(s *stage) *pair {
	s.t.Helper()
	n := &network{to: s.apiURL + "/v0/webhooks/alertmanager?application=watch&plan=am&key=" + s.key}
	n.holdUp()()
	server := httptest.NewServer(n)
	s.t.Cleanup(server.Close)
	p := startPair(s, server.URL+"/fast", server.URL+"/slow", "group_interval: 1s, repeat_interval: 1h")
	p.net = n
	return p
}

// startPair starts a pair. Each peer posts its groups to its own address at these intervals.
func startPair(s *stage, fast, slow, intervals string) *pair {
	s.t.Helper()
	binary := alertmanager(s.t)
	p := &pair{s: s}
	cluster := []string{freeAddr(s.t), freeAddr(s.t)}
	for i, to := range []string{fast, slow} {
		dir := s.t.TempDir()
		writeFile(s.t, dir+"/am.yml", fmt.Sprintf(`route: {receiver: iris, group_by: [alertname], group_wait: 200ms, %s}
receivers:
  - name: iris
    webhook_configs: [{url: "%s", send_resolved: true}]
`, intervals, to))
		web := freeAddr(s.t)
		p.api = append(p.api, "http://"+web)
		p.peers = append(p.peers, start(s.t, fmt.Sprintf("alertmanager-%d", i+1), binary, nil, "--config.file="+dir+
			"/am.yml", "--storage.path="+dir, "--web.listen-address="+web,
			"--cluster.listen-address="+cluster[i], "--cluster.advertise-address="+cluster[i], "--cluster.peer="+
				cluster[1-i], "--cluster.peer-timeout=500ms",
			"--cluster.settle-timeout=1s", "--cluster.gossip-interval=1h", "--cluster.pushpull-interval=1h", "--cluster.probe-interval=1h"))
	}
	for _, api := range p.api {
		s.eventually(30*time.Second, "an Alertmanager with its peer", func() bool {
			resp, err := http.Get(api + "/api/v2/status")
			if err != nil {
				return false
			}
			defer func() { _ = resp.Body.Close() }()
			var status struct {
				Cluster struct {
					Status string            `json:"status"`
					Peers  []json.RawMessage `json:"peers"`
				} `json:"cluster"`
			}
			return json.NewDecoder(resp.Body).Decode(&status) == nil && status.Cluster.Status == "ready" &&
				len(status.Cluster.Peers) == 2
		})
	}
	return p
}

// post sends alerts to both peers, as Prometheus does.
func (p *pair) post(alerts ...map[string]any) {
	p.s.t.Helper()
	body, err := json.Marshal(alerts)
	require.NoError(p.s.t, err)
	for _, api := range p.api {
		resp, err := http.Post(api+"/api/v2/alerts", "application/json", bytes.NewReader(body))
		require.NoError(p.s.t, err)
		_ = resp.Body.Close()
		require.Equal(p.s.t, http.StatusOK, resp.StatusCode)
	}
}

// comes waits until a delivery of a peer was forwarded, and returns its incident.
func (p *pair) comes(peer, status, alert string) int64 {
	p.s.t.Helper()
	p.s.eventually(20*time.Second, fmt.Sprintf("the %s peer's %s delivery of %s", peer, status, alert), func() bool {
		_, ok := p.net.find(peer, status, alert)
		return ok
	})
	d, _ := p.net.find(peer, status, alert)
	return d.incident
}

func TestARealAlertmanagerPairPagesOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.plan("am", []notification{notify("user", "ann", "low", 60)})
	p := newPair(s)
	alert := func(name string) map[string]any {
		return map[string]any{"labels": map[string]string{"alertname": name},
			"startsAt": time.Now().Add(-time.Minute).UTC()}
	}
	over := func(a map[string]any) map[string]any {
		return map[string]any{"labels": a["labels"], "startsAt": a["startsAt"], "endsAt": time.Now().UTC()}
	}
	lines := func(id int64, text string) int {
		return s.count("select count(*) from timeline_entries where incident_id = $1 and text like '%' || $2 || '%'",
			id, text)
	}

	// Both peers deliver firing, then both deliver resolved: one incident, one page.
	disk := alert("Disk")
	p.post(disk)
	first := p.comes("fast", "firing", "Disk")
	require.NotZero(t, first)
	require.Equal(t, first, p.comes("slow", "firing", "Disk"))
	s.expect(first, "email", "ann@example.com")
	p.post(over(disk))
	p.comes("fast", "resolved", "Disk")
	p.comes("slow", "resolved", "Disk")
	require.Equal(t, 1, s.incident(first).Resolved)
	require.Equal(t, 1, s.count("select count(*) from incidents"))

	// The slow peer's firing delivery arrives after the fast peer's resolve: it is held, and pages nobody.
	release := p.net.holdUp()
	defer release()
	load := alert("Load")
	p.post(load)
	second := p.comes("fast", "firing", "Load")
	s.expect(second, "email", "ann@example.com")
	s.eventually(20*time.Second, "the slow peer to try", func() bool { return p.net.waiting() > 0 })
	p.post(over(load))
	require.Equal(t, second, p.comes("fast", "resolved", "Load"))
	release()
	require.Equal(t, second, p.comes("slow", "firing", "Load"), "the late delivery belongs to the resolved incident")
	require.Equal(t, 1, lines(second, "a late firing delivery arrived"), "visibly")
	require.Equal(t, 2, s.count("select count(*) from incidents"))

	// The slow peer's resolve removes the held delivery.
	p.comes("slow", "resolved", "Load")
	s.eventually(10*time.Second, "the end of the wait",
		func() bool { return lines(second, "a resolve followed the late firing delivery") == 1 })
	require.Equal(t, 1, s.incident(second).Resolved)
	s.silentUntil(time.Now().Add(3*time.Second), second)
	require.Equal(t, 1, s.messagesOf(first))
	require.Equal(t, 1, s.messagesOf(second), "no second page")
	require.Zero(t, s.count("select count(*) from incident_timers"))
	s.check([]int64{first, second})
}

// One real Alertmanager delivers each alert in three ways: by its webhook, and as a client of PagerDuty and of
// Opsgenie.
func TestARealAlertmanagerUsesEveryIntegration(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{})
	s.alarm()
	s.plan("am", []notification{notify("user", "ann", "low", 60)})
	tokens := map[string]string{}
	for _, kind := range []string{"alertmanager", "pagerduty", "opsgenie"} {
		out := s.iris(s.env, "", "integration", "add", kind, "--type", kind, "--application", "watch", "--plan", "am")
		for line := range strings.Lines(out) {
			if token, found := strings.CutPrefix(line, "token: "); found {
				tokens[kind] = strings.TrimSpace(token)
			}
		}
		require.NotEmpty(t, tokens[kind], out)
	}
	dir, web := t.TempDir(), freeAddr(t)
	writeFile(t, dir+"/am.yml", fmt.Sprintf(`global: {pagerduty_url: "%[1]s/v2/enqueue", opsgenie_api_url: "%[1]s/"}
route: {receiver: iris, group_by: [alertname], group_wait: 200ms, group_interval: 1s, repeat_interval: 1h}
receivers:
  - name: iris
    webhook_configs: [{url: "%[1]s/v1/hooks/alertmanager", http_config: {authorization: {credentials: %[2]s}}}]
    pagerduty_configs: [{routing_key: %[3]s}]
    opsgenie_configs: [{api_key: %[4]s}]
`, s.apiURL, tokens["alertmanager"], tokens["pagerduty"], tokens["opsgenie"]))
	start(t, "alertmanager", alertmanager(t), nil, "--config.file="+dir+"/am.yml", "--storage.path="+dir,
		"--web.listen-address="+web, "--cluster.listen-address=")
	send := func(alert map[string]any) {
		body, err := json.Marshal([]any{alert})
		require.NoError(t, err)
		s.eventually(30*time.Second, "Alertmanager", func() bool {
			resp, err := http.Post("http://"+web+"/api/v2/alerts", "application/json", bytes.NewReader(body))
			if err != nil {
				return false
			}
			_ = resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		})
	}
	disk := map[string]any{"labels": map[string]string{"alertname": "Disk"},
		"startsAt": time.Now().Add(-time.Minute).UTC()}
	send(disk)
	open := func(resolved bool) int {
		return s.count("select count(*) from incidents where resolved = $1", resolved)
	}
	s.eventually(20*time.Second, "an incident of each integration", func() bool { return open(false) == 3 })
	for id := range int64(3) {
		s.expect(id+1, "email", "ann@example.com")
	}
	disk["endsAt"] = time.Now().UTC()
	send(disk)
	s.eventually(20*time.Second, "the end of all", func() bool { return open(true) == 3 })
	require.Equal(t, 3, s.count("select count(*) from incidents"))
}
