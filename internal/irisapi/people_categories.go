package irisapi

import (
	"maps"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (p *people) getCategories(w http.ResponseWriter, r *http.Request, u users.User) error {
	choices, err := p.settings.Categories(r.Context(), u.ID, wire.Param(r, "application"))
	if err != nil {
		return err
	}
	out := make([]record, len(choices))
	for i, c := range choices {
		out[i] = record{{"mode", c.Mode}, {"category", c.Category}, {"application", c.Application}}
	}
	wire.JSON(w, http.StatusOK, out)
	return nil
}

// setCategories stores in which modes a person wants categories of an application; null takes the choice back.
func (p *people) setCategories(w http.ResponseWriter, r *http.Request) error {
	application := wire.Param(r, "application")
	u, unknown := p.known(r)
	if unknown != nil && !fault.Is(unknown, fault.NotFound) {
		return unknown
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	choices := make([]users.CategoryChoice, 0, len(b.members))
	for _, category := range slices.Sorted(maps.Keys(b.members)) {
		c := users.CategoryChoice{Application: application, Category: category}
		if b.given(category) {
			mode, known := modeOf(b.members[category])
			if !known {
				return fault.Titled("Invalid mode", string(b.members[category]))
			}
			c.Mode = mode
		}
		choices = append(choices, c)
	}
	if unknown != nil {
		return fault.New(fault.Invalid, "Invalid user specified")
	}
	if err := p.settings.SetCategories(r.Context(), u, choices, by(r)); err != nil {
		return err
	}
	wire.JSON(w, http.StatusCreated, struct{}{})
	return nil
}

func (p *people) clearCategories(w http.ResponseWriter, r *http.Request, u users.User) error {
	if err := p.settings.ClearCategories(r.Context(), u, wire.Param(r, "application"), by(r)); err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}
