package pg

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
)

// SetCategories replaces the categories of an application by all. Names that exist, ignoring case, keep their number
// and the choices of people; the others are created, and categories that are missing in all are deleted.
func (a *Applications) SetCategories(ctx context.Context, id int64, all []applications.Category, by string) error {
	return a.changing(ctx, id, by, audit.ApplicationCategoriesChanged, func(ctx context.Context, q *db.Queries, _ db.LockApplicationRow) error {
		have, err := q.ApplicationCategories(ctx, id)
		if err != nil {
			return err
		}
		known := map[string]int64{}
		for _, h := range have {
			known[strings.ToLower(h.Name)] = h.ID
		}
		var added []applications.Category
		for _, c := range all {
			key := strings.ToLower(c.Name)
			old, ok := known[key]
			if !ok {
				added = append(added, c)
				continue
			}
			delete(known, key)
			err := q.UpdateCategory(ctx, db.UpdateCategoryParams{ID: old, Name: c.Name, Description: c.Description,
				Mode: c.Mode})
			if err != nil {
				return err
			}
		}
		for _, gone := range known {
			if err := q.DeleteCategory(ctx, gone); err != nil {
				return err
			}
		}
		for _, c := range added {
			err := q.InsertCategory(ctx, db.InsertCategoryParams{ApplicationID: id, Name: c.Name,
				Description: c.Description, Mode: c.Mode})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Quota returns an application's quota, with its use as the processors counted it; NotFound when it has none.
func (a *Applications) Quota(ctx context.Context, id int64) (applications.Quota, error) {
	r, err := postgres.Query(ctx, a.db, (*db.Queries).ApplicationQuota, id)
	var used messages.Usage
	_ = json.Unmarshal(r.Usage, &used) // if the counts cannot be read, they begin at zero
	return applications.Quota{HardUse: used.Sent.Within(r.Now, postgres.FromSeconds(r.HardSeconds)),
		SoftUse: used.Sent.Within(r.Now,
			postgres.FromSeconds(r.SoftSeconds)), Application: r.Application, HardThreshold: r.HardThreshold,
		SoftThreshold: r.SoftThreshold,
		HardDuration:  postgres.FromSeconds(r.HardSeconds), SoftDuration: postgres.FromSeconds(r.SoftSeconds), Plan: r.Plan, Target: r.Target,
		TargetKind: r.TargetKind, WaitAfterwards: postgres.FromSeconds(r.WaitSeconds)}, err
}

// SetQuota replaces an application's quota. It returns applications.ErrQuotaPlan if there is no such active plan, and
// applications.ErrQuotaTarget if there is no such target.
func (a *Applications) SetQuota(ctx context.Context, id int64, c applications.Quota, by string) error {
	return a.changing(ctx, id, by, audit.ApplicationQuotaSet, func(ctx context.Context, q *db.Queries, _ db.LockApplicationRow) error {
		if _, err := q.ActivePlanID(ctx, postgres.Storable(c.Plan)); errors.Is(err, pgx.ErrNoRows) {
			return applications.ErrQuotaPlan
		} else if err != nil {
			return err
		}
		target, err := q.AnyTarget(ctx, postgres.Storable(c.Target))
		if errors.Is(err, pgx.ErrNoRows) {
			return applications.ErrQuotaTarget
		}
		if err != nil {
			return err
		}
		return q.SetApplicationQuota(ctx, db.SetApplicationQuotaParams{ApplicationID: id,
			HardThreshold: c.HardThreshold,
			SoftThreshold: c.SoftThreshold, HardSeconds: int(c.HardDuration / time.Second),
			SoftSeconds: int(c.SoftDuration / time.Second), WaitSeconds: int(c.WaitAfterwards / time.Second),
			Plan: strings.TrimRight(postgres.Storable(c.Plan), " "), TargetID: target})
	})
}

// RemoveQuota deletes the quota of an application, if there is one.
func (a *Applications) RemoveQuota(ctx context.Context, id int64, by string) error {
	return a.changing(ctx, id, by, audit.ApplicationQuotaRemoved, func(ctx context.Context, q *db.Queries, _ db.LockApplicationRow) error {
		return q.DeleteApplicationQuota(ctx, id)
	})
}

// IncidentEmails returns the addresses whose mail opens an incident of the application, with the plan of each.
func (a *Applications) IncidentEmails(ctx context.Context, id int64) (map[string]string, error) {
	out := map[string]string{}
	rows, err := postgres.Query(ctx, a.db, (*db.Queries).IncidentEmails, id)
	for _, r := range rows {
		out[r.Email] = r.Plan
	}
	return out, err
}

// SetIncidentEmails replaces the addresses of an application, all or none. An address that is somebody's contact or
// another application's, and a plan that is not active or has no text for the application, are Invalid, with the texts
// of the wire.
func (a *Applications) SetIncidentEmails(ctx context.Context, id int64, plans map[string]string, by string) error {
	emails := slices.Sorted(maps.Keys(plans))
	return a.changing(ctx, id, by, audit.ApplicationIncidentEMailAddressesSet, func(ctx context.Context, q *db.Queries, _ db.LockApplicationRow) error {
		if len(emails) > 0 {
			if err := a.freeEmails(ctx, q, id, emails); err != nil {
				return err
			}
		}
		if err := q.ClearIncidentEmails(ctx, id); err != nil {
			return err
		}
		for _, email := range emails {
			plan := strings.TrimRight(postgres.Storable(plans[email]), " ")
			failed := "Failed adding " + email + " -> " + plan + " combination. "
			planID, err := q.ActivePlanID(ctx, plan)
			if errors.Is(err, pgx.ErrNoRows) {
				return fault.Invalidf(email, "%s", failed+"Is your plan name correct?")
			}
			if err != nil {
				return err
			}
			has, err := q.PlanHasText(ctx, db.PlanHasTextParams{PlanID: planID, ApplicationID: id})
			if err != nil {
				return err
			}
			if !has {
				return fault.Invalidf(email, "%s", failed+
					"This plan does not have any templates which support this app.")
			}
			if err := q.AddIncidentEmail(ctx, db.AddIncidentEmailParams{Email: email, ApplicationID: id, Plan: plan}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *Applications) freeEmails(ctx context.Context, q *db.Queries, id int64, emails []string) error {
	contacts, err := q.ContactsAmong(ctx, emails)
	if err != nil {
		return err
	}
	if len(contacts) > 0 {
		return fault.New(fault.Invalid, "These email addresses are also user's email addresses which is not allowed: "+
			strings.Join(contacts, ", "))
	}
	taken, err := q.EmailsOfOthers(ctx, db.EmailsOfOthersParams{ApplicationID: id, Emails: emails})
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		return fault.New(fault.Invalid, "These email addresses are already in use by another app: "+
			strings.Join(taken, ", "))
	}
	return nil
}
