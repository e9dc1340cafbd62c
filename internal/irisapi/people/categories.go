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
	return v0.Answer(w, choiceColumns.Records(choices), err)
}

var choiceColumns = v0.Columns[users.CategoryChoice]{
	{"mode", func(c users.CategoryChoice) any { return c.Mode }},
	{"category", func(c users.CategoryChoice) any { return c.Category }},
	{"application", func(c users.CategoryChoice) any { return c.Application }},
}

// set stores the modes that a person chooses for categories of an application; null removes a choice.
func (p categories) set(w http.ResponseWriter, r *http.Request) error {
	application := wire.Param(r, "application")
	u, unknown := p.known(r)
	if unknown != nil && !fault.Is(unknown, fault.NotFound) {
		return unknown
	}
	b := v0.ReadBody(w, r, "")
	choices := make([]users.CategoryChoice, 0, len(b.Members))
	for _, category := range slices.Sorted(maps.Keys(b.Members)) {
		c := users.CategoryChoice{Application: application, Category: category}
		if b.Given(category) {
			mode, known := modeOf(b.Members[category])
			b.Check(known, fault.Titled("Invalid mode", string(b.Members[category])))
			c.Mode = mode
		}
		choices = append(choices, c)
	}
	b.Check(unknown == nil, fault.New(fault.Invalid, "Invalid user specified"))
	if err := b.Err(); err != nil {
		return err
	}
	if err := p.Categories.SetCategories(r.Context(), u, choices, v0.By(r)); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, struct{}{})
}

func (p categories) clear(w http.ResponseWriter, r *http.Request, u users.User) error {
	return v0.Empty(w, http.StatusNoContent, p.Categories.ClearCategories(r.Context(), u, wire.Param(r, "application"), v0.By(r)))
}
