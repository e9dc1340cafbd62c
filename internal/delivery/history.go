// This file keeps the tables of the queue small: it moves finished messages to history and deletes old history. The
// processor runs one Historian. It decides when to move and to delete; storage (Archive) does it.

package delivery

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
)

// Round is what one round of moving has done.
type Round struct {
	Moved   int       // messages moved
	More    bool      // more messages are ready
	Through time.Time // when the last message that was read settled
}

// Archive is where finished messages go. Its methods may be called by several processes at once; each is one or a few
// short transactions.
type Archive interface {
	// Move continues where the last round of any process ended. It reads up to most messages that settled longer than
	// age ago, and a tenth as many incidents and messages that are to be read again, and moves those that are finished
	// to history. A message of an active incident is read again when the incident has ended.
	Move(ctx context.Context, age time.Duration, most int) (Round, error)
	// Prepare creates the partitions of the coming months.
	Prepare(ctx context.Context) error
	// Forget deletes a part of the messages that are older than retention; more reports whether there may be more of
	// them.
	Forget(ctx context.Context, retention time.Duration) (more bool, err error)
}

// HistorianLeases returns the buckets that this process may work on now.
type HistorianLeases interface {
	Leases() []buckets.Lease
}

// HistorianConfig tunes a Historian. Zero values mean the defaults.
type HistorianConfig struct {
	Age       time.Duration // how long finished messages stay in the queue's tables; default 10 minutes
	Retention time.Duration // how long history is kept; default 13 months
	Batch     int           // messages moved at a time; default 2,000
	Every     time.Duration // pause when there is nothing to do; default 10 s
}

func (c HistorianConfig) withDefaults() HistorianConfig {
	if c.Age == 0 {
		c.Age = 10 * time.Minute
	}
	if c.Retention == 0 {
		c.Retention = 396 * 24 * time.Hour
	}
	if c.Batch == 0 {
		c.Batch = 2000
	}
	if c.Every == 0 {
		c.Every = 10 * time.Second
	}
	return c
}

// Historian moves finished messages to history and deletes old history. Only the process that holds bucket 0 does so.
type Historian struct {
	archive Archive
	leases  HistorianLeases
	cfg     HistorianConfig
	log     *zap.Logger
}

// NewHistorian returns a Historian that does nothing until Run.
func NewHistorian(a Archive, l HistorianLeases, cfg HistorianConfig, log *zap.Logger) (*Historian, error) {
	if a == nil || l == nil || log == nil {
		return nil, errors.New("history: archive, leases and log are required")
	}
	return &Historian{archive: a, leases: l, cfg: cfg.withDefaults(), log: log.Named("history")}, nil
}

// tidyEvery is how often partitions are created and old history is deleted.
const tidyEvery = time.Minute

// Run works until ctx ends and returns nil.
func (h *Historian) Run(ctx context.Context) error {
	var tidied time.Time
	for {
		pause := h.cfg.Every
		if h.holdsFirst() {
			started, more := time.Now(), false
			if time.Since(tidied) >= tidyEvery {
				if more = h.tidy(ctx); !more {
					tidied = time.Now()
				}
			}
			round, err := h.archive.Move(ctx, h.cfg.Age, h.cfg.Batch)
			if err != nil {
				h.failed(ctx, "moving messages to history failed", err)
			} else {
				round.More = round.More || more
				pause = h.pause(round, time.Since(started))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// pause is the time until the next round. While more messages are ready, the historian uses the database a quarter of
// the time, or half of the time when it is more than a minute behind.
func (h *Historian) pause(r Round, took time.Duration) time.Duration {
	switch {
	case !r.More:
		return h.cfg.Every
	case time.Since(r.Through) > h.cfg.Age+time.Minute:
		return took
	}
	return min(h.cfg.Every, 3*took+time.Millisecond)
}

func (h *Historian) holdsFirst() bool {
	ls := h.leases.Leases()
	return len(ls) > 0 && ls[0].Bucket == 0
}

// tidy creates partitions and deletes old history; more reports whether there may be more to delete.
func (h *Historian) tidy(ctx context.Context) (more bool) {
	if err := h.archive.Prepare(ctx); err != nil {
		h.failed(ctx, "creating partitions of the history failed", err)
	}
	more, err := h.archive.Forget(ctx, h.cfg.Retention)
	if err != nil {
		h.failed(ctx, "deleting old history failed", err)
		return false
	}
	return more
}

func (h *Historian) failed(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		h.log.Warn(what, zap.Error(err))
	}
}
