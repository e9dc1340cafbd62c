package pg

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Settings stores the settings of people. It is safe for concurrent use.
type Settings struct{ db *postgres.DB }

// NewSettings returns the adapter over d.
func NewSettings(d *postgres.DB) *Settings { return &Settings{db: d} }

// ByTarget finds a person by public target number; a NotFound fault when there is none. Inactive people are found too.
func (s *Settings) ByTarget(ctx context.Context, targetID int64) (users.User, error) {
	row, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).UserByTarget, targetID)
	return UserOf(postgresdb.UserByNameRow(row)), err
}

// Profile returns a person with contacts, teams, choices of modes and categories, and devices; a NotFound fault when
// there is none.
func (s *Settings) Profile(ctx context.Context, id users.ID) (users.Profile, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (p users.Profile, err error) {
		p = users.Profile{Contacts: map[users.Mode]string{}, AppModes: map[string]map[users.Priority]users.Mode{}}
		row, err := q.UserByID(ctx, id)
		if err != nil {
			return p, err
		}
		p.User = UserOf(postgresdb.UserByNameRow(row))
		contacts, err := q.Contacts(ctx, id)
		if err != nil {
			return p, err
		}
		for _, c := range contacts {
			p.Contacts[c.Mode] = c.Destination
		}
		if p.Teams, err = q.TeamsOfUser(ctx, id); err != nil {
			return p, err
		}
		return p, readChoices(ctx, q, int64(id), &p)
	})
}

// readChoices adds the person's choices to a profile.
func readChoices(ctx context.Context, q *postgresdb.Queries, id int64, p *users.Profile) (err error) {
	if p.Modes, err = modesOf(ctx, q, id); err != nil {
		return err
	}
	byApp, err := q.ApplicationModesOfUser(ctx, users.ID(id))
	if err != nil {
		return err
	}
	for _, m := range byApp {
		if p.AppModes[m.Application] == nil {
			p.AppModes[m.Application] = map[users.Priority]users.Mode{}
		}
		p.AppModes[m.Application][m.Priority] = m.Mode
	}
	fixed, err := q.FixedTextsOfUser(ctx, users.ID(id))
	if err != nil {
		return err
	}
	p.FixedTexts = append(p.FixedTexts, fixed...)
	if p.Categories, err = categoryChoices(ctx, q, id, ""); err != nil {
		return err
	}
	devices, err := q.DevicesOfUser(ctx, users.ID(id))
	for _, d := range devices {
		p.Devices = append(p.Devices, users.Device(d))
	}
	return err
}

func modesOf(ctx context.Context, q *postgresdb.Queries, id int64) (map[users.Priority]users.Mode, error) {
	rows, err := q.ModesOfUser(ctx, users.ID(id))
	out := make(map[users.Priority]users.Mode, len(rows))
	for _, m := range rows {
		out[m.Priority] = m.Mode
	}
	return out, err
}

// changing runs f in a transaction and adds an entry to the audit log.
func (s *Settings) changing(ctx context.Context, u users.User, by string, action audit.Action, f func(context.Context, *postgresdb.Queries) error) error {
	return auditlog.Change(ctx, s.db, auditlog.User(u.ID), audit.Entry{Actor: by, Action: action}, f)
}

// SetModes stores choices of modes, all or none. An application that does not exist is an Invalid fault.
func (s *Settings) SetModes(ctx context.Context, u users.User, choices []users.ModeChoice, by string) error {
	if len(choices) == 0 {
		return nil
	}
	return s.changing(ctx, u, by, audit.ModesSet, func(ctx context.Context, q *postgresdb.Queries) error {
		apps := map[string]int64{"": 0}
		for i, c := range choices {
			app, known := apps[c.Application]
			if !known {
				var err error
				if app, err = applicationID(ctx, q, c.Application); err != nil {
					return inChoice(i, err)
				}
				apps[c.Application] = app
			}
			if err := setMode(ctx, q, int64(u.ID), app, c); err != nil {
				return err
			}
		}
		return nil
	})
}

func applicationID(ctx context.Context, q *postgresdb.Queries, name string) (int64, error) {
	id, err := q.ApplicationID(ctx, postgres.Storable(name))
	if fault.Is(postgres.MapError(err), fault.NotFound) {
		return 0, fault.Invalidf("application", "Application %s not found", name)
	}
	return id, err
}

// inChoice returns an Invalid fault of a choice with the place of the choice in the list.
func inChoice(i int, err error) error {
	if fault.Is(err, fault.Invalid) {
		return fault.Invalidf(fmt.Sprintf("choices[%d].%s", i, fault.FieldOf(err)), "%s", fault.Public(err))
	}
	return err
}

func setMode(ctx context.Context, q *postgresdb.Queries, user, app int64, c users.ModeChoice) error {
	priority, mode := string(c.Priority), string(c.Mode)
	switch {
	case app == 0 && mode == "":
		return q.RemoveUserMode(ctx, postgresdb.RemoveUserModeParams{UserID: users.ID(user),
			Priority: users.Priority(priority)})
	case app == 0:
		return q.SetUserMode(ctx, postgresdb.SetUserModeParams{UserID: users.ID(user),
			Priority: users.Priority(priority), Mode: users.Mode(mode)})
	case mode == "":
		return q.RemoveUserApplicationMode(ctx, postgresdb.RemoveUserApplicationModeParams{UserID: users.ID(user),
			ApplicationID: app, Priority: users.Priority(priority)})
	}
	return q.SetUserApplicationMode(ctx, postgresdb.SetUserApplicationModeParams{UserID: users.ID(user),
		ApplicationID: app, Priority: users.Priority(priority), Mode: users.Mode(mode)})
}

// ModeChoices returns a person's choices of modes: with an empty name first those for all applications, then those for
// single ones by name; else those for the application, which is an Invalid fault when it does not exist.
func (s *Settings) ModeChoices(ctx context.Context, id users.ID, application string) ([]users.ModeChoice, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (out []users.ModeChoice, err error) {
		var only int64
		if application != "" {
			only, err = applicationID(ctx, q, application)
		} else {
			out, err = choicesForAll(ctx, q, id)
		}
		if err != nil {
			return nil, err
		}
		rows, err := q.ApplicationModesOfUser(ctx, id)
		for _, m := range rows {
			if only == 0 || m.ApplicationID == only {
				out = append(out,
					users.ModeChoice{Application: m.Application, Priority: m.Priority, Mode: m.Mode})
			}
		}
		return out, err
	})
}

// choicesForAll returns a person's choices for all applications, most urgent first.
func choicesForAll(ctx context.Context, q *postgresdb.Queries, id users.ID) (out []users.ModeChoice, err error) {
	modes, err := modesOf(ctx, q, int64(id))
	for _, p := range users.Priorities {
		if m, chosen := modes[p]; chosen {
			out = append(out, users.ModeChoice{Priority: p, Mode: m})
		}
	}
	return out, err
}

// PriorityModes returns the default mode of every priority.
func (s *Settings) PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error) {
	return PriorityModes(ctx, s.db)
}

// FixedTexts returns the modes in which a person's messages carry the operator's text.
func (s *Settings) FixedTexts(ctx context.Context, id users.ID) ([]users.Mode, error) {
	return postgres.Query(ctx, s.db, (*postgresdb.Queries).FixedTextsOfUser, id)
}

// Devices returns the active phones of a person that take push messages, oldest first.
func (s *Settings) Devices(ctx context.Context, id users.ID) ([]users.Device, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).DevicesOfUser, id)
	return postgres.Convert(rows, func(r postgresdb.DevicesOfUserRow) users.Device { return users.Device(r) }), err
}

// Others returns the named settings of a person that have no column of their own.
func (s *Settings) Others(ctx context.Context, id users.ID) (map[string]string, error) {
	out := map[string]string{}
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).SettingsOfUser, id)
	for _, r := range rows {
		out[r.Name] = r.Value
	}
	return out, err
}

// SetFixedText stores whether a person's messages in a mode carry the operator's text instead of the template's.
func (s *Settings) SetFixedText(ctx context.Context, u users.User, mode users.Mode, fixed bool, by string) error {
	if fixed {
		return s.changing(ctx, u, by, audit.FixedTextSwitchedOn, func(ctx context.Context, q *postgresdb.Queries) error {
			return q.AddFixedText(ctx, postgresdb.AddFixedTextParams{UserID: u.ID, Mode: mode})
		})
	}
	return s.changing(ctx, u, by, audit.FixedTextSwitchedOff, func(ctx context.Context, q *postgresdb.Queries) error {
		return q.RemoveFixedText(ctx, postgresdb.RemoveFixedTextParams{UserID: u.ID, Mode: mode})
	})
}
