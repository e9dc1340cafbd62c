package requests

import (
	"context"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
)

// Names has the people and teams of some shifts, by id.
type Names struct {
	People map[users.ID]oncall.Person
	Teams  map[int64]oncall.Profile
}

// NamesOf reads the people and teams of shifts.
func (a Requests) NamesOf(ctx context.Context, shifts []oncall.Shift) (Names, error) {
	c := Names{map[users.ID]oncall.Person{}, map[int64]oncall.Profile{}}
	ids := []users.ID{}
	for _, s := range shifts {
		ids = append(ids, s.User)
		if _, known := c.Teams[s.TeamID]; !known {
			t, err := a.Teams.ByID(ctx, s.TeamID)
			if err != nil {
				return c, err
			}
			c.Teams[s.TeamID] = t
		}
	}
	people, err := a.People.ByID(ctx, ids)
	for _, p := range people {
		c.People[p.ID] = p
	}
	return c, err
}

// ShiftRows reads the selected shifts, with the names of their people and teams.
func (a Requests) ShiftRows(ctx context.Context, c editing.Selection) (map[oncall.ShiftID]oncall.ShiftRow, error) {
	out := map[oncall.ShiftID]oncall.ShiftRow{}
	add := func(q oncall.ShiftQuery) error {
		rows, err := a.Shifts.Find(ctx, q)
		for _, row := range rows {
			out[row.ID] = row
		}
		return err
	}
	if len(c.IDs) > 0 {
		if err := add(oncall.ShiftQuery{Numbers: c.IDs}); err != nil {
			return nil, err
		}
	}
	for _, link := range c.Links {
		if err := add(oncall.ShiftQuery{Link: &link}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Named adds the names of people and teams to shifts.
func (a Requests) Named(ctx context.Context, shifts []oncall.Shift) ([]oncall.ShiftRow, error) {
	c, err := a.NamesOf(ctx, shifts)
	if err != nil {
		return nil, err
	}
	out := make([]oncall.ShiftRow, len(shifts))
	for i, s := range shifts {
		p := c.People[s.User]
		out[i] = oncall.ShiftRow{Shift: s, Team: c.Teams[s.TeamID].Name, UserName: p.Name, FullName: p.FullName}
	}
	return out, nil
}
