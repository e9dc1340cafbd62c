package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// throughRelay makes a relay to the database of env. It returns the relay and the environment variable of the URL
// through it.
func throughRelay(t *testing.T, env []string) (*relay, string) {
	t.Helper()
	const name = "IRIS_DATABASE_URL="
	for _, v := range env {
		if raw, ok := strings.CutPrefix(v, name); ok {
			u, err := url.Parse(raw)
			require.NoError(t, err)
			r := newRelay(t, u.Host, false)
			u.Host = r.addr()
			return r, name + u.String()
		}
	}
	require.Fail(t, "no database URL")
	return nil, ""
}

// busy returns the CPU time that a process has used.
func (p *process) busy(t *testing.T) time.Duration {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	require.NoError(t, err)
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	require.NoError(t, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond // Linux counts in ticks of 10 ms
}

// The network between a working processor and the database drops all packets. The other processor takes over. When the
// network is back, late statements of the first processor arrive and are refused or labelled.
func TestProcessorCutOffFromTheDatabase(t *testing.T) {
	t.Parallel()
	var wire *relay
	s := newStage(t, options{processors: 2, each: func(i int, env []string) []string {
		if i != 0 {
			return nil
		}
		r, v := throughRelay(t, env)
		wire = r
		return []string{v}
	}})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 2)
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.Fine, DelayMS: 50})
	var cutAt time.Time
	ids := s.burst("burst", 300, func() { cutAt = time.Now(); wire.cut() })
	before := s.processors[0].busy(t)
	s.allOwned(10*time.Second, 1)
	s.allDelivered(60*time.Second, ids)
	s.settled(60 * time.Second)
	require.Less(t, s.processors[0].busy(t)-before, time.Second+time.Since(cutAt)/5, "it does not spin")
	require.Less(t, strings.Count(s.processors[0].log.String(), "\n"), 300, "nor fill the log")

	mended := time.Now()
	wire.mend()
	s.allOwned(20*time.Second, 2)
	t.Logf("holds buckets again %s after the network came back", time.Since(mended).Round(time.Millisecond))
	more := s.burst("burst", 60, nil)
	s.allDelivered(15*time.Second, more)
	s.settled(30 * time.Second)
	s.check(append(ids, more...))
}

// The network between all processors and the database drops all packets for some time. No processor may be declared
// dead. Accepted work is delivered as soon as the network is back.
func TestAllProcessorsCutOffFromTheDatabase(t *testing.T) {
	t.Parallel()
	var wires []*relay
	s := newStage(t, options{processors: 2, each: func(_ int, env []string) []string {
		r, v := throughRelay(t, env)
		wires = append(wires, r)
		return []string{v}
	}})
	s.alarm()
	s.plan("two-steps", []notification{notify("user", "ann", "high", 5)},
		[]notification{notify("user", "bob", "high", 3600)})
	s.allOwned(15*time.Second, 2)
	begun := s.open("two-steps", "before")
	s.expect(begun, "sms", annPhone)
	s.eventually(5*time.Second, "the first page to be recorded", func() bool {
		return s.count("select count(*) from messages where incident_id = $1 and state = 'sent'", begun) == 1
	})
	for _, w := range wires {
		w.cut()
	}
	// The API still reaches the database. Incidents that it accepts now are paged later.
	meanwhile := s.burst("two-steps", 20, nil)
	s.eventually(30*time.Second, "every heartbeat to be long over", func() bool {
		return s.count("select count(*) from members where heartbeat_at > clock_timestamp() - interval '18 seconds'") == 0
	})
	require.Zero(t, s.messagesOf(meanwhile[0]))
	mended := time.Now()
	for _, w := range wires {
		w.mend()
	}
	s.allDelivered(20*time.Second, meanwhile)
	t.Logf("all were paged %s after the network came back", time.Since(mended).Round(time.Millisecond))
	s.expect(begun, "sms", bobPhone)
	s.allOwned(20*time.Second, 2)
	for _, id := range meanwhile {
		s.expect(id, "sms", bobPhone)
	}
	s.settled(30 * time.Second)
	s.check(append(meanwhile, begun))
}

// Only gossip is cut. Each processor suspects that the other one is dead, but both reach the database. No bucket may
// move, and no message may be sent twice.
func TestOnlyGossipIsCut(t *testing.T) {
	t.Parallel()
	var wires []*relay
	s := newStage(t, options{processors: 2, each: func(int, []string) []string {
		home := freeAddr(t)
		r := newRelay(t, home, true)
		wires = append(wires, r)
		return []string{"IRIS_GOSSIP_ADDR=" + home, "IRIS_GOSSIP_ADVERTISE=" + r.addr(), "IRIS_LOG_LEVEL=debug"}
	}})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 2)
	epochs := func() int { return s.count("select sum(epoch)::int from bucket_leases") }
	talking := func(what string) {
		passed := []int64{wires[0].passed.Load(), wires[1].passed.Load()}
		s.eventually(15*time.Second, what, func() bool {
			return wires[0].passed.Load() > passed[0]+3 && wires[1].passed.Load() > passed[1]+3
		})
	}
	talking("gossip to begin")
	before := epochs()
	for _, w := range wires {
		w.cut()
	}
	cut := time.Now()
	ids := s.burst("burst", 200, nil)
	s.allDelivered(30*time.Second, ids)
	for _, p := range s.processors {
		s.eventually(15*time.Second, "each to hold the other one for dead", func() bool {
			return strings.Contains(p.log.String(), "as failed, suspect timeout reached")
		})
	}
	s.eventually(20*time.Second, "eight seconds of a cut, in which each is dead for the other", func() bool {
		require.Equal(t, 256, s.count(`select count(*) from bucket_leases l join members m on m.process_id = l.owner
			where m.heartbeat_at > clock_timestamp() - interval '3 seconds'`))
		return time.Since(cut) > 8*time.Second
	})
	require.Equal(t, before, epochs(), "no bucket changed hands")
	for _, w := range wires {
		w.mend()
	}
	talking("gossip to grow together")
	ids = append(ids, s.burst("burst", 20, nil)...)
	s.allDelivered(30*time.Second, ids)
	s.settled(30 * time.Second)
	require.Zero(t, s.count("select count(*) from attempts where in_doubt or late"))
	require.Equal(t, before, epochs())
	s.check(ids)
}

// claim acknowledges an incident in a person's session. It may be called from any goroutine.
func (s *stage) claim(user string, id int64) error {
	resp, err := s.people[user].Post(fmt.Sprintf("%s/v0/incidents/%d", s.apiURL, id), "application/json",
		strings.NewReader(fmt.Sprintf(`{"owner": %q}`, user)))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s: %s", resp.Status, body)
	}
	return nil
}

// Many people acknowledge while a vendor is slow and faulty: calls run, retries are due, attempts are in doubt, and
// messages are taken. A second after an acknowledgement no call may start.
func TestAcknowledgementsDuringASlowVendor(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("urgent", []notification{notify("team", "ops", "medium", 1), notify("user", "ann", "high", 0)},
		[]notification{notify("team", "ops", "low", 0)})
	s.allOwned(15*time.Second, 2)
	slow := []pretend.Behaviour{}
	for range 400 { // every third call fails, and every third attempt is in doubt
		slow = append(slow, pretend.Behaviour{Do: pretend.Fine, DelayMS: 400, Times: 1},
			pretend.Behaviour{Do: pretend.Fail, DelayMS: 300, Times: 1},
			pretend.Behaviour{Do: pretend.BreakAfter, DelayMS: 350, Times: 1})
	}
	s.vendors.SMTP.Behave(slow...)
	s.vendors.Twilio.Behave(pretend.Behaviour{Do: pretend.Fail, DelayMS: 500})
	ids := s.burst("urgent", 240, nil)

	var wg sync.WaitGroup
	work := make(chan int64)
	for range 6 {
		wg.Go(func() {
			for id := range work {
				if err := s.claim("ann", id); err != nil {
					t.Errorf("incident %d is not acknowledged: %v", id, err)
				}
			}
		})
	}
	for _, id := range ids {
		work <- id
	}
	close(work)
	wg.Wait()
	acknowledged := time.Now()
	s.settled(45 * time.Second)
	s.eventually(10*time.Second, "calls that began before to end",
		func() bool { return time.Since(acknowledged) > 6*time.Second })
	require.Zero(t, s.count("select count(*) from incidents where active or due_at is not null"))
	require.Zero(t, s.count("select count(*) from messages where needs_fallback"))
	var entries int
	for _, e := range s.vendors.Log().Entries() {
		if e.IncidentID != 0 {
			entries++
			require.False(t, e.At.After(acknowledged.Add(time.Second)),
				"a call began %s after the last acknowledgement", e.At.Sub(acknowledged))
		}
	}
	require.Positive(t, entries, "there was something to silence")
	require.Positive(t, s.count("select count(*) from messages where state = 'cancelled'"))
	s.check(nil)
}

// A processor is frozen and continued several times, for as long as a claim, a heartbeat or a call may take. Its late
// work is refused or labelled.
func TestProcessorThatIsFrozenRepeatedly(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 2)
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.Fine, DelayMS: 150})
	var ids []int64
	for i, pause := range []time.Duration{400, 1600, 3300, 5600, 900, 4200} {
		p := s.processors[i%2]
		ids = append(ids, s.burst("burst", 40, func() { p.signal(syscall.SIGSTOP) })...)
		until := time.Now().Add(pause * time.Millisecond)
		s.eventually(10*time.Second, "the pause to be over", func() bool { return time.Now().After(until) })
		p.signal(syscall.SIGCONT)
	}
	s.allDelivered(60*time.Second, ids)
	s.allOwned(30*time.Second, 2)
	s.settled(60 * time.Second)
	s.check(ids)
}

// A rolling restart, as for a new release: no message is lost, late, in doubt or sent twice, and the API always reports
// that incidents are paged.
func TestRollingRestartUnderLoad(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("burst", []notification{notify("user", "ann", "low", 3600)})
	s.allOwned(15*time.Second, 2)
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.Fine, DelayMS: 100})
	var refused atomic.Int32
	ctx, stop := context.WithCancel(t.Context())
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for ctx.Err() == nil {
			if resp, err := http.Get(s.apiURL + "/readyz/paging"); err == nil {
				if resp.StatusCode != http.StatusOK {
					refused.Add(1)
				}
				_ = resp.Body.Close()
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	var ids []int64
	for _, old := range s.processors {
		ids = append(ids, s.burst("burst", 150, func() {
			s.addProcessor()
			old.signal(syscall.SIGTERM)
		})...)
		select {
		case <-old.done:
		case <-time.After(20 * time.Second):
			require.Fail(t, "a processor does not stop")
		}
		s.allOwned(15*time.Second, 2)
	}
	s.allDelivered(60*time.Second, ids)
	s.settled(30 * time.Second)
	stop()
	watcher.Wait()
	require.Zero(t, refused.Load(), "incidents were paged all the time")
	require.Zero(t, s.count("select count(*) from attempts where in_doubt or late or outcome not in ('sent', 'cancelled')"))
	require.Equal(t, len(ids), s.count("select count(*) from attempts where outcome = 'sent'"), "every page left once")
	s.check(ids)
}
