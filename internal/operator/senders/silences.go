package senders

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/postgres"
	pgsilences "github.com/iris-oncall/iris/internal/postgres/silences"
	"github.com/iris-oncall/iris/internal/silences"
)

type (
	// Silence is a silence or maintenance window.
	Silence = silences.Silence
	// SilenceContent is what people set of a silence.
	SilenceContent = silences.Content
)

// mostListed is how many silences, or hidden incidents of one, are read.
const mostListed = 1000

// silencesOf returns the operations on silences. The processors see a change within a second, without a notification.
func silencesOf(db *postgres.DB) silences.Silences {
	store := pgsilences.New(db)
	return silences.Silences{Reader: store, Editor: store, Keeper: silences.NewKeeper(store, silences.NewCurrent(store), nil, nil, zap.NewNop())}
}

func administrator() auth.Actor { return auth.Actor{Username: operatorName, Admin: true} }

// AddSilence adds a silence. When it returns, the incidents that the silence matches page nobody any more.
func (s *Senders) AddSilence(ctx context.Context, c SilenceContent) (Silence, error) {
	return s.silences.Create(ctx, administrator(), c)
}

// Silences returns the newest silences, newest first; with over also those that are over.
func (s *Senders) Silences(ctx context.Context, over bool) ([]Silence, error) {
	return s.silences.Page(ctx, 0, !over, mostListed)
}

// Silence returns a silence, and the numbers of the incidents that it hides.
func (s *Senders) Silence(ctx context.Context, id int64) (found Silence, hidden []int64, err error) {
	if found, err = s.silences.ByID(ctx, silences.ID(id)); err != nil {
		return found, nil, err
	}
	ids, err := s.silences.Incidents(ctx, silences.ID(id), 0, mostListed)
	for _, n := range ids {
		hidden = append(hidden, int64(n))
	}
	return found, hidden, err
}

// Describe describes a silence in lines for people. Instants are in UTC.
func Describe(s Silence, now time.Time) string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	out := fmt.Sprintf("silence: %d\nstate: %s\nincidents: %s\nfrom: %s\nto: %s\ncomment: %s\nadded: %s by %s\n", s.ID, s.State(now), s.Conditions(),
		at(s.From), at(s.To), s.Comment, at(s.CreatedAt), s.Author)
	if s.Recurrence != "" {
		out += fmt.Sprintf("repeat: %s in %s\n", s.Recurrence, s.Zone)
		if span, ok := s.Next(now); ok && s.EndedAt.IsZero() {
			out += fmt.Sprintf("next: %s to %s\n", at(span.From), at(span.To))
		}
	}
	if !s.EndedAt.IsZero() {
		out += fmt.Sprintf("ended: %s\n", at(s.EndedAt))
	}
	return out
}

// SetSilence replaces the content of a silence that is not over.
func (s *Senders) SetSilence(ctx context.Context, id int64, c SilenceContent) (Silence, error) {
	return s.silences.Replace(ctx, administrator(), silences.ID(id), c)
}

// EndSilence ends a silence now. Its incidents escalate within two minutes if their source still reports them.
func (s *Senders) EndSilence(ctx context.Context, id int64) error {
	return s.silences.End(ctx, administrator(), silences.ID(id))
}
