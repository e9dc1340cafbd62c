package jobs

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// numbersEvery is how often stored phone numbers are looked at: a program of an older release may still store what was
// typed.
const numbersEvery = time.Hour

// maxUnread is how many people the log names.
const maxUnread = 50

// RewriteNumbers returns a job that stores phone numbers in international form, at the start and every hour. It logs
// the names of people whose number cannot be read, which it notes as failing. Only the owner of bucket 0 does it.
func RewriteNumbers(contacts *pg.Contacts, region users.Region, e Engine) func(context.Context) error {
	log, was := e.Log.Named("numbers"), 0
	var last time.Time
	pass := func(ctx context.Context) error {
		leases := e.Leases.Leases()
		if len(leases) == 0 || leases[0].Bucket != 0 || time.Since(last) < numbersEvery {
			return nil
		}
		changed, unreadable, err := contacts.RewriteNumbers(ctx, region)
		if err != nil {
			return err
		}
		last = time.Now()
		if changed > 0 {
			log.Info("phone numbers are now stored in international form", zap.Int("contacts", changed))
		}
		if len(unreadable) > 0 && len(unreadable) != was {
			log.Warn("people have a phone number that cannot be read: write it with its country code, or set phone_region",
				zap.Int("people", len(unreadable)), zap.Strings("some", unreadable[:min(len(unreadable), maxUnread)]))
		}
		was = len(unreadable)
		return nil
	}
	return Every(syncTick, pass, "stored phone numbers cannot be read, retrying", e.Log)
}

const (
	// lookupsEvery is the time between lookups of up to maxLookups people in Slack, which allows about 50 in a minute.
	lookupsEvery = time.Minute
	maxLookups   = 20
)

// ResolveSlackNames returns a job that stores the Slack ids of people whose contact is a bare name, at the start and
// every hour, and notes as failing what cannot be resolved. With lookup nil it does nothing. keep leaves the names that
// a directory gave. Only the owner of bucket 0 does it.
func ResolveSlackNames(contacts *pg.Contacts, lookup func(ctx context.Context, email string) (string, error), keep bool, e Engine) func(context.Context) error {
	log := e.Log.Named("slack names")
	var last time.Time // of the end of a round
	var after int64
	pass := func(ctx context.Context) error {
		leases := e.Leases.Leases()
		if lookup == nil || len(leases) == 0 || leases[0].Bucket != 0 || time.Since(last) < numbersEvery {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, syncRetry) // Slack may ask to wait
		defer cancel()
		resolved, next, err := contacts.ResolveSlackNames(ctx,
			pg.SlackNames{ID: lookup, KeepManaged: keep, Most: maxLookups}, after)
		if resolved > 0 {
			log.Info("names of people in Slack are now stored as ids", zap.Int("contacts", resolved))
		}
		if after = next; err == nil && next == 0 {
			last = time.Now()
		}
		return err
	}
	return Every(lookupsEvery, pass, "names of people in Slack cannot be resolved, retrying", e.Log)
}
