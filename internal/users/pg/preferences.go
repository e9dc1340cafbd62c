package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Reprioritisations returns a person's rules in the order of their source modes.
func (s *Settings) Reprioritisations(ctx context.Context, id users.ID) ([]users.Reprioritisation, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).ReprioritisationsOfUser, id)
	return postgres.Convert(rows, func(r db.ReprioritisationsOfUserRow) users.Reprioritisation {
		return users.Reprioritisation{
			Source: r.SourceMode, Destination: r.DestinationMode, Count: r.Count,
			Window: time.Duration(r.WindowSeconds) * time.Second,
		}
	}), err
}

// SetReprioritisation stores a person's rule for a source mode and replaces the previous one.
func (s *Settings) SetReprioritisation(ctx context.Context, u users.User, r users.Reprioritisation, by string) error {
	return s.changing(ctx, u, by, audit.ReprioritisationSet, func(ctx context.Context, q *db.Queries) error {
		return q.SetReprioritisation(ctx, db.SetReprioritisationParams{
			UserID: u.ID, SourceMode: r.Source, DestinationMode: r.Destination, Count: r.Count,
			WindowSeconds: int(r.Window / time.Second),
		})
	})
}

// RemoveReprioritisation deletes a person's rule for a source mode; a NotFound fault when there is none.
func (s *Settings) RemoveReprioritisation(ctx context.Context, u users.User, source users.Mode, by string) error {
	return s.changing(ctx, u, by, audit.ReprioritisationRemoved, func(ctx context.Context, q *db.Queries) error {
		return postgres.RequireRow(q.RemoveReprioritisation(ctx,
			db.RemoveReprioritisationParams{UserID: u.ID, SourceMode: source}))
	})
}

// Categories returns a person's choices for the categories of an application; with an empty name, of all.
func (s *Settings) Categories(ctx context.Context, id users.ID, application string) ([]users.CategoryChoice, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *db.Queries) ([]users.CategoryChoice, error) {
		return categoryChoices(ctx, q, int64(id), application)
	})
}

func categoryChoices(ctx context.Context, q *db.Queries, id int64, application string) ([]users.CategoryChoice, error) {
	rows, err := q.CategoryChoicesOfUser(ctx, db.CategoryChoicesOfUserParams{UserID: users.ID(id),
		Application: postgres.Storable(application)})
	return postgres.Convert(rows, func(r db.CategoryChoicesOfUserRow) users.CategoryChoice { return users.CategoryChoice(r) }), err
}

// SetCategories stores choices for categories, all or none. A category that its application does not have is an Invalid
// fault.
func (s *Settings) SetCategories(ctx context.Context, u users.User, choices []users.CategoryChoice, by string) error {
	if len(choices) == 0 {
		return nil
	}
	return s.changing(ctx, u, by, audit.CategoriesSet, func(ctx context.Context, q *db.Queries) error {
		for i, c := range choices {
			category, err := q.CategoryID(ctx, db.CategoryIDParams{Application: postgres.Storable(c.Application),
				Category: postgres.Storable(c.Category)})
			if fault.Is(postgres.MapError(err), fault.NotFound) {
				return inChoice(i, fault.Invalidf("category", "Invalid category specified"))
			}
			if err != nil {
				return err
			}
			if c.Mode == "" {
				err = q.RemoveCategoryChoice(ctx, db.RemoveCategoryChoiceParams{UserID: u.ID, CategoryID: category})
			} else {
				err = q.SetCategoryChoice(ctx, db.SetCategoryChoiceParams{UserID: u.ID, CategoryID: category,
					Mode: c.Mode})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ClearCategories deletes a person's choices for all categories of an application.
func (s *Settings) ClearCategories(ctx context.Context, u users.User, application, by string) error {
	return s.changing(ctx, u, by, audit.CategoriesCleared, func(ctx context.Context, q *db.Queries) error {
		return q.RemoveCategoryChoices(ctx, db.RemoveCategoryChoicesParams{UserID: u.ID,
			Application: postgres.Storable(application)})
	})
}

// RegisterDevice registers a phone for push messages to a person, also when it belonged to another person before.
func (s *Settings) RegisterDevice(ctx context.Context, u users.User, d users.Device, by string) error {
	return s.changing(ctx, u, by, audit.DeviceRegistered, func(ctx context.Context, q *db.Queries) error {
		return q.RegisterDevice(ctx, db.RegisterDeviceParams{RegistrationID: d.RegistrationID, UserID: u.ID,
			Platform: d.Platform})
	})
}
