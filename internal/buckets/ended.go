package buckets

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// EndedStore records which processes have ended. Implementations are safe for concurrent use.
type EndedStore interface {
	// MarkEnded records that a member without a fresh heartbeat has ended. A later heartbeat of the member withdraws
	// it.
	MarkEnded(ctx context.Context, processID string, fresh time.Duration) error
}

// probeWithin bounds the connection to the gossip port of a member that seems dead.
const probeWithin = time.Second

// probeDead finds out which dead members have ended, so that their messages can be sent again before the claims end. A
// process that hangs or cannot reach the database is dead by its heartbeats and may still send; its kernel accepts
// connections to its gossip port. A host that does not answer proves nothing either. Only a refused connection, or a
// successor on the same address, shows that the process has ended. A refused connection counts only if gossip knew the
// member: the address may never have worked.
func (h *Holder) probeDead(ctx context.Context, v *View, s survey) {
	if h.deps.Ended == nil {
		return
	}
	for _, m := range v.Members {
		if s.living[m.ProcessID] || m.Ended || m.GossipAddr == "" {
			continue
		}
		succeeded := slices.ContainsFunc(v.Members, func(o MemberState) bool {
			return s.living[o.ProcessID] && o.Host == m.Host && o.GossipAddr == m.GossipAddr &&
				o.StartedAt.After(m.StartedAt)
		})
		if !succeeded && !slices.Contains(s.suspects, m.ProcessID) {
			continue
		}
		if _, running := h.probing.LoadOrStore(m.ProcessID, true); running {
			continue
		}
		h.probes.Go(func() {
			defer h.probing.Delete(m.ProcessID)
			if succeeded || refused(ctx, m.GossipAddr) {
				h.markEnded(ctx, m)
			}
		})
	}
}

// refused reports whether nobody listens on a TCP address of a host that answers.
func refused(ctx context.Context, addr string) bool {
	conn, err := (&net.Dialer{Timeout: probeWithin}).DialContext(ctx, "tcp", addr)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

func (h *Holder) markEnded(ctx context.Context, m MemberState) {
	ctx, cancel := context.WithTimeout(ctx, h.statementTimeout())
	defer cancel()
	if err := h.deps.Ended.MarkEnded(ctx, m.ProcessID, h.cfg.Limits.SuspectFresh); err != nil {
		if ctx.Err() == nil {
			h.log.Warn("a member that has ended was not recorded, its calls wait for the end of their claims",
				zap.Error(err))
		}
		return
	}
	h.log.Info("a member has ended, its calls are repeated now", zap.String("member", m.ProcessID),
		zap.String("host", m.Host))
}
