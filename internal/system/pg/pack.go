package pg

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// A packed day is a list of groups. A group is its key and then its hours, each as a length and the bytes. Numbers are
// unsigned varints. A key has the numbers of the user, the application and the plan (0 = none), and the texts mode,
// vendor and account. An hour has its number in the day from 1 to 24 (a count of a whole day has 24), three counts, and
// two lists of durations of a byte each.

// key is the object of the counts.
type key struct {
	user, application, plan int64
	mode, vendor, account   string
}

// hour has the counts of an hour. They depend on the kind of the group: incidents and acknowledged incidents; sent,
// delivered and failed messages; calls and failed calls; or pages and interruptions.
type hour struct {
	number           int
	counts           [3]int64
	claims, resolves []byte // each an applications.Duration
}

var errPacked = errors.New("the counts of a packed day are damaged: delete its row from statistics_days, then it is packed again")

func appendKey(b []byte, k key) []byte {
	for _, n := range []int64{k.user, k.application, k.plan} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, text := range []string{k.mode, k.vendor, k.account} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return b
}

func appendHour(b []byte, h hour) []byte {
	b = binary.AppendUvarint(b, uint64(h.number))
	for _, n := range h.counts {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, list := range [][]byte{h.claims, h.resolves} {
		b = append(binary.AppendUvarint(b, uint64(len(list))), list...)
	}
	return b
}

// unpacker reads numbers and bytes. After the first error it reads zeros.
type unpacker struct {
	rest   []byte
	failed bool
}

func (u *unpacker) number() int64 {
	n, size := binary.Uvarint(u.rest)
	if size <= 0 {
		u.rest, u.failed = nil, true
		return 0
	}
	u.rest = u.rest[size:]
	return int64(n)
}

func (u *unpacker) bytes() []byte {
	n := u.number()
	if n < 0 || n > int64(len(u.rest)) {
		u.rest, u.failed = nil, true
		return nil
	}
	found := u.rest[:n]
	u.rest = u.rest[n:]
	return found
}

func (u *unpacker) key() key {
	return key{u.number(), u.number(), u.number(), string(u.bytes()), string(u.bytes()), string(u.bytes())}
}

func (u *unpacker) hour() hour {
	return hour{int(u.number()), [3]int64{u.number(), u.number(), u.number()}, u.bytes(), u.bytes()}
}

func durations(seconds []float64) []byte {
	all := make([]byte, len(seconds))
	for i, s := range seconds {
		all[i] = byte(applications.DurationOf(s))
	}
	return all
}

// packed packs the rows of a day, which are in the order of their keys.
func packed(rows []db.CountsOfDayRow, day time.Time) []byte {
	var body, hours []byte
	var last key
	flush := func() {
		if len(hours) == 0 {
			return
		}
		k := appendKey(nil, last)
		body = append(binary.AppendUvarint(body, uint64(len(k))), k...)
		body = append(binary.AppendUvarint(body, uint64(len(hours))), hours...)
		hours = hours[:0]
	}
	for _, r := range rows {
		if k := (key{r.UserID, r.ApplicationID, r.PlanID, r.Mode, r.Vendor, r.Account}); k != last {
			flush()
			last = k
		}
		hours = appendHour(hours, hour{int(r.At.Sub(day) / time.Hour), [3]int64{r.First, r.Second, r.Third},
			durations(r.ClaimSeconds), durations(r.ResolveSeconds)})
	}
	flush()
	return append([]byte{}, body...)
}

// Pack packs the counts of days that are not packed, newest first, each day in its own transaction. After each day it
// pauses, rest times as long as the day took. Figures of a day that is not packed are the same, but take longer.
// Several processes may call it; they take turns.
func (s *Counts) Pack(ctx context.Context, rest int) error {
	for {
		began := time.Now()
		done, err := postgres.GetInTx(ctx, s.db, packDay)
		if done || err != nil {
			return fault.Wrap(fault.KindOf(postgres.MapError(err)), err, "the counts of a day cannot be packed now")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(rest) * time.Since(began)):
		}
	}
}

// packDay packs the missing kinds of counts of the newest day that is not packed. done reports whether all days are
// packed.
func packDay(ctx context.Context, q *db.Queries) (done bool, err error) {
	if err := lockStatistics(ctx, q); err != nil {
		return false, err
	}
	missing, err := q.UnpackedDay(ctx)
	if err != nil || len(missing) == 0 {
		return true, err
	}
	for _, m := range missing {
		if !m.Day.Equal(missing[0].Day) {
			break
		}
		rows, err := q.CountsOfDay(ctx, db.CountsOfDayParams{Kind: m.Kind, Day: m.Day})
		if err != nil {
			return false, err
		}
		if err := q.PackDay(ctx, db.PackDayParams{Day: m.Day, Kind: m.Kind, Body: packed(rows, m.Day)}); err != nil {
			return false, err
		}
	}
	return false, nil
}
