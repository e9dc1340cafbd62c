package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// This file stores the keys of calendar feeds. A row has the keyed hash, by which a request finds it, and the sealed
// key, which the API returns to its requester.

// Keys lists the feed keys of a requester.
func (n *Notices) Keys(ctx context.Context, requester users.ID) ([]oncall.IcalKey, error) {
	id := int64(requester)
	return n.feedKeys(ctx, db.IcalKeysParams{RequesterID: &id})
}

// Key finds a feed key; a NotFound fault when there is none, or its requester is switched off.
func (n *Notices) Key(ctx context.Context, key string) (oncall.IcalKey, error) {
	key = postgres.Storable(key)
	hash := n.keys.FeedKeyHash(key)
	return postgres.First(n.feedKeys(ctx, db.IcalKeysParams{Key: &key, Hash: &hash}))
}

// KeyFor finds the requester's key for a calendar; a NotFound fault when there is none.
func (n *Notices) KeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) (oncall.IcalKey, error) {
	id := int64(requester)
	return postgres.First(n.feedKeys(ctx, db.IcalKeysParams{
		RequesterID: &id, UserID: (*int64)(postgres.NullID(of.User)), TeamID: postgres.NullID(of.TeamID),
	}))
}

func (n *Notices) feedKeys(ctx context.Context, by db.IcalKeysParams) ([]oncall.IcalKey, error) {
	return postgres.Get(ctx, n.db, func(ctx context.Context, q *db.Queries) (out []oncall.IcalKey, err error) {
		rows, err := q.IcalKeys(ctx, by)
		out = make([]oncall.IcalKey, len(rows))
		for i, r := range rows {
			key := r.Key
			if r.KeySealed != nil {
				if key, err = unsealFeedKey(n.keys, r.Key, r.KeySealed); err != nil {
					return out, err
				}
			}
			out[i] = oncall.IcalKey{
				Key: key, Requester: r.Requester, RequesterID: users.ID(r.RequesterID), Name: r.Name, CreatedAt: r.CreatedAt,
				User: postgres.Deref(r.UserID), TeamID: postgres.Deref(r.TeamID),
			}
		}
		return out, err
	})
}

// NewKey replaces the requester's key for a calendar. The old key stops working.
func (n *Notices) NewKey(ctx context.Context, requester users.ID, of oncall.IcalSubject) (string, error) {
	key := postgres.NewUUID()
	hash, sealed := SealFeedKey(n.keys, key)
	user, team := postgres.NullID(of.User), postgres.NullID(of.TeamID)
	return key, n.feeds(ctx, requester, audit.CalendarFeedKeyCreated, func(ctx context.Context, q *db.Queries) error {
		if err := q.DropIcalKey(ctx, db.DropIcalKeyParams{RequesterID: int64(requester), UserID: user, TeamID: team}); err != nil {
			return err
		}
		return q.CreateIcalKey(ctx, db.CreateIcalKeyParams{Hash: hash, KeySealed: sealed,
			RequesterID: int64(requester), UserID: user, TeamID: team})
	})
}

// DropKey deletes a key; a NotFound fault when there is none.
func (n *Notices) DropKey(ctx context.Context, key string) error {
	of, err := n.Key(ctx, key)
	if err != nil {
		return err
	}
	key = postgres.Storable(key)
	return n.feeds(ctx, of.RequesterID, audit.CalendarFeedKeyDeleted, func(ctx context.Context, q *db.Queries) error {
		return postgres.RequireRow(q.DeleteIcalKey(ctx, db.DeleteIcalKeyParams{Key: key,
			Hash: n.keys.FeedKeyHash(key)}))
	})
}

// DropKeyFor deletes the requester's key for a calendar, if there is one.
func (n *Notices) DropKeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) error {
	return n.feeds(ctx, requester, audit.CalendarFeedKeyDeleted, func(ctx context.Context, q *db.Queries) error {
		return q.DropIcalKey(ctx, db.DropIcalKeyParams{RequesterID: int64(requester), UserID: postgres.NullID(of.User),
			TeamID: postgres.NullID(of.TeamID)})
	})
}

// DropKeys removes all keys of a requester and returns their number.
func (n *Notices) DropKeys(ctx context.Context, requester users.ID) (int64, error) {
	var deleted int64
	err := n.feeds(ctx, requester, audit.CalendarFeedKeyDeleted, func(ctx context.Context, q *db.Queries) (err error) {
		deleted, err = q.DeleteIcalKeysOf(ctx, int64(requester))
		return err
	})
	return deleted, err
}

// feeds changes the keys of a requester and adds an entry to the audit log.
func (n *Notices) feeds(ctx context.Context, requester users.ID, action audit.Action, change func(context.Context, *db.Queries) error) error {
	return auditlog.Change(ctx, n.db, auditlog.User(requester), audit.Entry{Action: action}, change)
}

// SealFeedKey returns the two stored forms of a key: a hash to find it by, and the sealed key.
func SealFeedKey(keys *auth.Keys, key string) (hash string, sealed []byte) {
	hash = keys.FeedKeyHash(key)
	return hash, keys.Seal([]byte(key), "feed key "+hash)
}

func unsealFeedKey(keys *auth.Keys, hash string, sealed []byte) (string, error) {
	key, err := keys.Unseal(sealed, "feed key "+hash)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "the key of a calendar feed cannot be read")
	}
	return string(key), nil
}

// SealBatch is how many keys one statement seals.
const SealBatch = 500

// SealKeys seals the keys that an earlier release stored in the clear, and returns their number. The keys stay valid.
func (n *Notices) SealKeys(ctx context.Context) (int64, error) {
	var total int64
	for {
		sealed, err := postgres.Get(ctx, n.db, func(ctx context.Context, q *db.Queries) (int64, error) {
			return SealFeedKeys(ctx, q, n.keys)
		})
		total += sealed
		if err != nil || sealed < SealBatch {
			return total, err
		}
	}
}

// SealFeedKeys seals up to SealBatch of the keys that are stored in the clear, and returns their number.
func SealFeedKeys(ctx context.Context, q *db.Queries, keys *auth.Keys) (int64, error) {
	found, err := q.ClearIcalKeys(ctx, SealBatch)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	var p db.SealIcalKeysParams
	for _, key := range found {
		hash, sealed := SealFeedKey(keys, key)
		p.Keys, p.Hashes, p.Sealed = append(p.Keys, key), append(p.Hashes, hash), append(p.Sealed, sealed)
	}
	return q.SealIcalKeys(ctx, p)
}
