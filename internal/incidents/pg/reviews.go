package pg

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Tags of reviews are tags of incidents with this name.
const (
	tagKind = "incident"
	tagName = "review"
)

// Review implements reviews.Store.
func (i *Incidents) Review(ctx context.Context, id incidents.ID) (reviews.Review, error) {
	return postgres.Get(ctx, i.db, func(ctx context.Context, q *postgresdb.Queries) (reviews.Review, error) {
		return readReview(ctx, q, id)
	})
}

func readReview(ctx context.Context, q *postgresdb.Queries, id incidents.ID) (out reviews.Review, err error) {
	if id == 0 {
		return out, errNoReview(id)
	}
	rows, err := q.Reviews(ctx, postgresdb.ReviewsParams{Incident: int64(id), Before: math.MaxInt64, Most: 1})
	if err != nil {
		return out, err
	}
	if len(rows) == 0 {
		return out, errNoReview(id)
	}
	r := rows[0]
	out = reviews.Review{Incident: r.IncidentID, Application: r.Application, Author: r.Author, CreatedAt: r.CreatedAt.UTC(),
		ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt.UTC(), Content: reviews.Content{Title: r.Title, Text: r.Body,
			Tags: postgres.NonNil(r.Tags), State: stateOf(r.Published)}}
	out.FollowUps, err = followUps(r.FollowUps)
	return out, err
}

func errNoReview(id incidents.ID) error {
	return fault.Newf(fault.NotFound, "incident %d has no review", id)
}

func stateOf(published bool) reviews.State {
	if published {
		return reviews.Published
	}
	return reviews.Draft
}

func followUps(raw json.RawMessage) ([]reviews.FollowUp, error) {
	out := []reviews.FollowUp{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read the follow-ups of a review: %w", err)
	}
	return out, nil
}

// Reviews implements reviews.Store.
func (i *Incidents) Reviews(ctx context.Context, f reviews.Query) ([]reviews.ReviewInList, error) {
	before := int64(f.Before)
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := postgres.Query(ctx, i.db, (*postgresdb.Queries).Reviews, postgresdb.ReviewsParams{Before: before,
		Application: f.Application, State: string(f.Written), Tag: postgres.Storable(strings.TrimSpace(f.Tag)),
		Words: postgres.Storable(strings.TrimSpace(f.Text)), Team: postgres.Storable(strings.TrimSpace(f.Team)), Most: f.Limit})
	if err != nil {
		return nil, err
	}
	out := make([]reviews.ReviewInList, len(rows))
	for k, r := range rows {
		links, err := followUps(r.FollowUps)
		if err != nil {
			return nil, err
		}
		out[k] = reviews.ReviewInList{Incident: r.IncidentID, Application: r.Application, Title: r.Title,
			Tags: postgres.NonNil(r.Tags), FollowUps: len(links), State: stateOf(r.Published), Author: r.Author,
			CreatedAt: r.CreatedAt.UTC(), ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt.UTC()}
	}
	return out, nil
}

// SaveReview implements reviews.Store.
func (i *Incidents) SaveReview(ctx context.Context, id incidents.ID, c reviews.Content, by string, check func(tag string) error) (made bool, err error) {
	links, err := json.Marshal(c.FollowUps)
	if err != nil {
		return false, err
	}
	for k := range c.Tags {
		c.Tags[k] = postgres.Storable(c.Tags[k])
	}
	err = i.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		before, err := checkReview(ctx, q, id, check)
		if err != nil {
			return err
		}
		made = before == ""
		p := postgresdb.AddReviewParams{Incident: int64(id), Title: postgres.Storable(c.Title), Body: postgres.Storable(c.Text),
			FollowUps: links, Published: c.State == reviews.Published, Author: postgres.Storable(by)}
		if made {
			n, err := q.AddReview(ctx, p)
			if postgres.SqlState(err) == "23503" {
				return fault.Wrap(fault.NotFound, err, "no such incident")
			}
			if err != nil {
				return err
			}
			if n == 0 {
				return etag.ErrStale // somebody else made it meanwhile
			}
		} else if err := q.ReplaceReview(ctx, postgresdb.ReplaceReviewParams{Incident: p.Incident, Title: p.Title,
			Body: p.Body, FollowUps: p.FollowUps, Published: p.Published, Author: p.Author}); err != nil {
			return err
		}
		if err := q.ClearTag(ctx, postgresdb.ClearTagParams{Kind: tagKind, ObjectID: int64(id), Name: tagName}); err != nil {
			return err
		}
		if err := q.AddTag(ctx, postgresdb.AddTagParams{Kind: tagKind, ObjectID: int64(id), Name: tagName, Values: c.Tags}); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: audit.ReviewSaved, Object: reviewOf(id),
			Detail: fmt.Sprintf("%s; %d characters", c.State, len([]rune(c.Text)))})
	})
	return made, err
}

// DeleteReview implements reviews.Store.
func (i *Incidents) DeleteReview(ctx context.Context, id incidents.ID, by string, check func(tag string) error) error {
	return i.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		before, err := checkReview(ctx, q, id, check)
		if err == nil && before == "" {
			err = errNoReview(id)
		}
		if err != nil {
			return err
		}
		if err := q.ClearTag(ctx, postgresdb.ClearTagParams{Kind: tagKind, ObjectID: int64(id), Name: tagName}); err != nil {
			return err
		}
		if err := q.DeleteReview(ctx, int64(id)); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: audit.ReviewDeleted, Object: reviewOf(id)})
	})
}

// checkReview locks the review of an incident and checks its state. It returns the tag of the state, "" if there is no
// review.
func checkReview(ctx context.Context, q *postgresdb.Queries, id incidents.ID, check func(tag string) error) (tag string, err error) {
	locked, err := q.LockReview(ctx, int64(id))
	if err != nil {
		return "", err
	}
	if len(locked) > 0 {
		before, err := readReview(ctx, q, id)
		if err != nil {
			return "", err
		}
		tag = before.Tag()
	}
	return tag, check(tag)
}

func reviewOf(id incidents.ID) string { return fmt.Sprintf("review of incident %d", id) }
