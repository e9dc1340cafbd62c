package people

import (
	"maps"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (p categories) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	choices, err := p.Categories.Categories(r.Context(), u.ID, wire.Param(r, "application"))
	if err != nil {
		return err
	}
	out := make([]v0.Record, len(choices))
	for i, c := range choices {
		out[i] = v0.Record{{"mode", c.Mode}, {"category", c.Category}, {"application", c.Application}}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// set stores the modes that a person chooses for categories of an application; null removes a choice.
func (p categories) set(w http.ResponseWriter, r *http.Request) error {
	application := wire.Param(r, "application")
	u, unknown := p.known(r)
	if unknown != nil && !fault.Is(unknown, fault.NotFound) {
		return unknown
	}
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	choices := make([]users.CategoryChoice, 0, len(b.Members))
	for _, category := range slices.Sorted(maps.Keys(b.Members)) {
		c := users.CategoryChoice{Application: application, Category: category}
		if b.Given(category) {
			mode, known := modeOf(b.Members[category])
			if !known {
				return fault.Titled("Invalid mode", string(b.Members[category]))
			}
			c.Mode = mode
		}
		choices = append(choices, c)
	}
	if unknown != nil {
		return fault.New(fault.Invalid, "Invalid user specified")
	}
	if err := p.Categories.SetCategories(r.Context(), u, choices, v0.By(r)); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, struct{}{})
}

func (p categories) clear(w http.ResponseWriter, r *http.Request, u users.User) error {
	if err := p.Categories.ClearCategories(r.Context(), u, wire.Param(r, "application"), v0.By(r)); err != nil {
		return err
	}
	return routing.Empty(w, http.StatusNoContent)
}
