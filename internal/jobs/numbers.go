package jobs

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// numbersEvery is how often stored phone numbers are looked at: a program of an older release may still store what was typed.
const numbersEvery = time.Hour

// maxUnread is how many people the log names.
const maxUnread = 50

// RewriteNumbers returns a job that stores phone numbers in international form, at the start and every hour. It logs the names of people
// whose number cannot be read. Only the owner of bucket 0 does it.
func RewriteNumbers(contacts *people.Contacts, region users.Region, e Engine) func(context.Context) error {
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
