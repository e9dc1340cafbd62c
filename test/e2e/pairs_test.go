package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// turn is a request that stops an escalation, or starts it again.
type turn struct {
	verb string
	body any
}

// turns are the ways to stop an escalation, each with what starts it again. standing is the incident into which others
// are merged.
func turns(standing int64) [][2]turn {
	return [][2]turn{
		{{"acknowledge", nil}, {"reopen", nil}},
		{{"resolve", nil}, {"reopen", nil}},
		{{"snooze", map[string]any{"for": "1h"}}, {"unsnooze", nil}},
		{{"merge", map[string]any{"into": standing}}, {"unmerge", nil}},
		{{"acknowledge", nil}, {"restart", nil}},
	}
}

// act sends a change in ann's session. It reports a failure, and does not stop the test, because it runs in other
// goroutines.
func (s *stage) act(id int64, c turn) error {
	raw, err := json.Marshal(c.body)
	if err != nil {
		return err
	}
	if c.body == nil {
		raw = []byte("{}")
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		fmt.Sprintf("%s/v1/incidents/%d/%s", s.apiURL, id, c.verb), bytes.NewReader(raw))
	if err != nil {
		return err
	}
	resp, err := s.people["ann"].Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("incident %d: %s: %s", id, c.verb, resp.Status)
	}
	return nil
}

// Every stop and its restart, and every pair of these, 0, 20, 50 and 200 ms after the opening and after each other,
// while the first pages are on their way. Each plan goes to its end: both people are paged, and nothing waits for the
// end of a claim (25 s).
func TestStopsAndRestartsInTheFirstMillisecondsDelayNoPlan(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]string{"without a limit": "", "with a limit": "limits: {modes: {email: {rate: 60/s}}}\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := filepath.Join(t.TempDir(), "iris.yaml")
			require.NoError(t, os.WriteFile(config, []byte(limit), 0o600))
			s := newStage(t, options{processors: 2, env: []string{"IRIS_CONFIG=" + config}})
			s.alarm()
			s.plan("two", []notification{notify("user", "ann", "low", 3)},
				[]notification{notify("user", "bob", "low", 3)})
			s.plan("quiet", []notification{notify("user", "bob", "low", 3600)})
			stops := turns(s.open("quiet", "it stands for others"))
			var sequences [][]turn
			for _, first := range stops {
				sequences = append(sequences, first[:])
				for _, second := range stops {
					sequences = append(sequences, append(first[:len(first):len(first)], second[:]...))
				}
			}
			var mu sync.Mutex
			var ids []int64
			var failures []error
			var running sync.WaitGroup
			for k, changes := range sequences {
				for _, gap := range []time.Duration{0, 20 * time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond} {
					running.Go(func() {
						id := s.open("two", fmt.Sprintf("disk %d full", k))
						next := time.NewTimer(gap)
						defer next.Stop()
						var err error
						for _, c := range changes {
							<-next.C
							if err = s.act(id, c); err != nil {
								break
							}
							next.Reset(gap)
						}
						mu.Lock()
						defer mu.Unlock()
						ids = append(ids, id)
						if err != nil {
							failures = append(failures, err)
						}
					})
				}
			}
			running.Wait()
			require.Empty(t, failures)
			s.eventually(20*time.Second, "every plan to come to its end", func() bool {
				return s.count("select count(*) from incidents where id = any ($1) and exhausted_at is not null",
					ids) == len(ids)
			})
			paged := map[string]map[int64]bool{"ann@example.com": {}, "bob@example.com": {}}
			for _, e := range s.vendors.Log().Accepted() {
				if paged[e.To] != nil {
					paged[e.To][e.IncidentID] = true
				}
			}
			for _, id := range ids {
				require.True(t, paged["ann@example.com"][id], "incident %d", id)
				require.True(t, paged["bob@example.com"][id], "incident %d", id)
			}
			require.Zero(t, s.count("select count(*) from messages where state in ('taken', 'sending') and incident_id = any ($1)", ids))
		})
	}
}
