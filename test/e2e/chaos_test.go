package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

// chaosProcessors is the number of processors.
const chaosProcessors = 3

// chaosRates are the limits that must hold during all faults, in messages per second. The application nightly has its
// own limit.
var chaosRates = []limit{{mode: "email", rate: 25, burst: 1}, {mode: "sms", rate: 10, burst: 1},
	{mode: "email", application: "nightly", rate: 4, burst: 1}}

const chaosConfig = `limits:
  modes:
    email: {rate: 25/s}
    sms: {rate: 10/s}
  applications:
    nightly:
      email: {rate: 4/s}
`

// Injects random faults of every kind while clients post incidents, notifications, acknowledgements and edits of the
// calendar. Then compares the vendors' log with the promises. test/chaos.sh runs it for longer and with other seeds;
// the seed repeats the faults.
func TestChaos(t *testing.T) {
	t.Parallel()
	seed, length := chaosSettings(t)
	c := newChaos(t, seed)
	faults := c.foresee(length)
	for _, f := range faults {
		t.Logf("%6.1f s for %4.1f s: %s", f.at.Seconds(), f.length.Seconds(), f.what)
	}
	c.begun = time.Now()
	ctx, stop := context.WithCancel(t.Context())
	c.flow(ctx)
	c.endure(faults, length)
	stop()
	c.wg.Wait()
	c.heal()
	healed := time.Now()
	c.drain()
	v := c.judge(seed, length, time.Since(healed))
	t.Log(v.String())
	require.Empty(t, v.broken, "repeat it with: test/chaos.sh %d %d", int(length.Seconds()), seed)
}

// chaosSettings returns the seed and the length of the faults: short and always the same in CI; test/chaos.sh sets
// others.
func chaosSettings(t *testing.T) (uint64, time.Duration) {
	t.Helper()
	seed, length := uint64(1), 20*time.Second
	if v := os.Getenv("CHAOS_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		require.NoError(t, err, "CHAOS_SEED")
		seed = n
	}
	if v := os.Getenv("CHAOS_SECONDS"); v != "" {
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "CHAOS_SECONDS")
		length = time.Duration(n) * time.Second
	}
	return seed, length
}

// chaos is a stage with the parts that faults break, and the client requests that got a 2xx.
type chaos struct {
	*stage
	begun  time.Time
	random *rand.Rand // for faults only, so that the seed repeats them
	slots  []*slot
	wire   *relay // between iris-api and the database
	token  string // of ann's session
	night  *apiclient.Client
	wg     sync.WaitGroup

	mu       sync.Mutex
	accepted map[int64]time.Time // incidents that got a 2xx, and the time of the answer
	silenced map[int64]time.Time // incidents whose acknowledgement or resolution got a 2xx, and the time of the answer
	notified map[string]bool     // texts of notifications that got a 2xx
	refused  int                 // requests that were not accepted
	edits    int
}

// slot has the addresses of one processor. After a processor is killed, the next one uses the same addresses.
type slot struct {
	env      []string
	database *relay
	gossip   *relay
	running  *process
}

func newChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	c := &chaos{
		random: rand.New(rand.NewPCG(seed,
			0)), accepted: map[int64]time.Time{}, silenced: map[int64]time.Time{}, notified: map[string]bool{},
	}
	config := t.TempDir() + "/iris.yaml"
	writeFile(t, config, chaosConfig)
	c.stage = newStage(t, options{
		ownServer: true, processors: chaosProcessors, env: []string{"IRIS_CONFIG=" + config},
		api: func(env []string) []string {
			wire, database := throughRelay(t, env)
			c.wire = wire
			return []string{database}
		},
		each: func(_ int, env []string) []string {
			s := &slot{}
			var database string
			s.database, database = throughRelay(t, env)
			home := freeAddr(t)
			s.gossip = newRelay(t, home, true)
			s.env = []string{database, "IRIS_GOSSIP_ADDR=" + home, "IRIS_GOSSIP_ADVERTISE=" + s.gossip.addr()}
			c.slots = append(c.slots, s)
			return s.env
		},
	})
	for i, p := range c.processors {
		c.slots[i].running = p
	}
	var err error
	key := c.iris(c.env, "", "app", "add", "nightly")
	c.night, err = apiclient.New(apiclient.Config{URL: c.apiURL, App: "nightly",
		Key: string(bytes.TrimSpace([]byte(key)))})
	require.NoError(t, err)
	c.alarm()
	c.makePlans()
	c.allOwned(20*time.Second, chaosProcessors)
	return c
}

// makePlans makes the plans, and the calendar that one of them uses.
func (c *chaos) makePlans() {
	c.plan("ladder", []notification{notify("user", "ann", "low", 1)},
		[]notification{notify("user", "bob", "low", 1), notify("user", "ann", "high",
			2)}, []notification{notify("team", "ops", "high", 0)})
	again := notify("user", "ann", "medium", 1)
	again["repeat"] = 2
	c.plan("again", []notification{again}, []notification{notify("user", "bob", "urgent", 0)})
	c.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters", map[string]any{"name": "all"}, nil)
	for _, name := range []string{"ann", "bob"} {
		c.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters/all/users", map[string]any{"name": name}, nil)
	}
	c.plan("duty", []notification{notify("oncall-primary", "ops", "low", 1)},
		[]notification{notify("team", "ops", "low", 0)})
	_, page := c.as("ann", http.MethodGet, "/me", nil)
	c.token = csrfToken.FindStringSubmatch(page)[1]
}

// flow starts the clients. They do not use the seed of the faults, because the number of their requests depends on the
// machine.
func (c *chaos) flow(ctx context.Context) {
	plans := []string{"ladder", "again", "duty"}
	c.often(ctx, 170*time.Millisecond, func(i int) error {
		id, err := c.app.OpenIncident(ctx, apiclient.Incident{Plan: plans[i%len(plans)],
			Context: map[string]any{"title": fmt.Sprintf("storm %d", i)}})
		if err == nil {
			c.note(func() { c.accepted[id] = time.Now() })
			if i%3 == 1 {
				c.wg.Go(func() { c.silence(ctx, id, time.Duration(i*7919%5000)*time.Millisecond, i%2 == 0) })
			}
		}
		return err
	})
	c.often(ctx, 300*time.Millisecond, func(i int) error {
		words := fmt.Sprintf("word %d of the night", i)
		err := c.night.Notify(ctx, apiclient.Notification{Target: apiclient.Target{Role: "user",
			Target: []string{"ann", "bob"}[i%2]}, Priority: "low", Subject: words, Body: words})
		if err == nil {
			c.note(func() { c.notified[words] = true })
		}
		return err
	})
	c.often(ctx, 900*time.Millisecond, func(i int) error {
		now := time.Now().Unix()
		err := c.try("ann", http.MethodPost, "/api/v0/events",
			map[string]any{"team": "ops", "user": []string{"ann", "bob"}[i%2], "role": "primary",
				"start": now, "end": now + 30})
		if err == nil {
			c.note(func() { c.edits++ })
		}
		return err
	})
}

func (c *chaos) note(what func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what()
}

// often calls do at intervals until ctx ends, and counts errors.
func (c *chaos) often(ctx context.Context, every time.Duration, do func(i int) error) {
	c.wg.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for i := 0; ; i++ {
			if err := do(i); err != nil && ctx.Err() == nil {
				c.note(func() { c.refused++ })
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// silence acknowledges or resolves an incident after a time. It repeats the request until it succeeds, as a person
// would.
func (c *chaos) silence(ctx context.Context, id int64, after time.Duration, resolve bool) {
	for wait := after; ; wait = 200 * time.Millisecond {
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		path, body := fmt.Sprintf("/v0/incidents/%d", id), map[string]any{"owner": "ann"}
		if resolve {
			path, body = path+"/resolve", map[string]any{"resolved": true}
		}
		if c.try("ann", http.MethodPost, path, body) == nil {
			c.note(func() { c.silenced[id] = time.Now() })
			return
		}
	}
}

// try sends a request in a person's session. It may be called from any goroutine.
func (c *chaos) try(user, method, path string, in any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, c.apiURL+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("X-CSRF-TOKEN", c.token)
	resp, err := c.people[user].Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		body, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s: %s", resp.Status, body)
	}
	return nil
}

// drain waits until all accepted work is finished.
func (c *chaos) drain() {
	c.allOwned(30*time.Second, chaosProcessors)
	c.eventually(3*time.Minute, "every plan to be exhausted or silenced", func() bool {
		return c.count("select count(*) from incidents where active or due_at is not null") == 0
	})
	c.settled(time.Minute)
}
