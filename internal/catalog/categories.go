package catalog

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// maxCategory is the longest name of a category, in bytes.
const maxCategory = 255

// Category is a kind of out-of-band notifications of an application.
type Category struct {
	Name        string     `json:"name" doc:"1 to 255 bytes."`
	Description string     `json:"description" required:"false" maxLength:"10000"`
	Mode        users.Mode `json:"mode" doc:"For people who chose none."`
}

// Categories are all categories of an application.
type Categories struct {
	Categories []Category `json:"categories" maxItems:"1000"`
}

// CategoryEdit replaces the categories of an application.
type CategoryEdit struct {
	OneApplication
	Body Categories `json:"body"`
}

// Check implements operation.Checker. /v0 answers with the texts about names.
func (e CategoryEdit) Check() error {
	var wrong fault.Wrong
	seen := map[string]bool{}
	for i, c := range e.Body.Categories {
		place, name := fmt.Sprintf("categories[%d].", i), strings.TrimSpace(c.Name)
		wrong.If(name == "", place+"name", "The name of a category must not be empty")
		wrong.If(len(name) > maxCategory, place+"name", "The name of a category must not be longer than %d bytes", maxCategory)
		key := strings.ToLower(name)
		wrong.If(seen[key], place+"name", "The category %s is given twice", name)
		seen[key] = true
		_, known := users.ParseMode(string(c.Mode))
		wrong.If(!known, place+"mode", "there is no mode %.40q", string(c.Mode))
	}
	return wrong.Err()
}

// The operations on categories.
var (
	CategoriesOfApplication = operation.Define[OneApplication, Categories](operation.Doc{Name: "application.categories",
		Method: http.MethodGet, Path: "/v1/applications/{app}/categories", Needs: operation.Reader,
		Summary: "The categories of an application's notifications"})
	ReplaceCategories = operation.Define[CategoryEdit, Categories](operation.Doc{Name: "application.set-categories",
		Method: http.MethodPut, Path: "/v1/applications/{app}/categories",
		Needs: operation.Member, Rule: operation.OfApplicationAndItsKey, Audit: []audit.Action{audit.ApplicationCategoriesChanged},
		Summary: "Replace the categories of an application's notifications",
		Note:    "A category whose name stays, in any case, keeps the choices of people. Those of the others are lost."})
)

// MaySetCategories reports whether a caller may replace the categories of an application: those who may change it, and
// its own key.
func MaySetCategories(by operation.Actor, a applications.Application) bool {
	return MayEdit(by, a.OwnerIDs, a.Team) || writes(by) && by.Program && by.Through == a.Name
}

func (a *Applications) categories(ctx context.Context, _ operation.Actor, one OneApplication) (Categories, error) {
	found, err := a.find(ctx, one.Application)
	out := Categories{Categories: make([]Category, len(found.Categories))}
	for i, c := range found.Categories {
		out.Categories[i] = Category{c.Name, c.Description, c.Mode}
	}
	return out, err
}

func (a *Applications) replaceCategories(ctx context.Context, by operation.Actor, e CategoryEdit) (out Categories, err error) {
	found, err := a.find(ctx, e.Application)
	if (err == nil || fault.Is(err, fault.NotFound)) && !MaySetCategories(by, found) {
		err = operation.ErrOwnerOnly
	}
	if err != nil {
		return out, err
	}
	all := make([]applications.Category, len(e.Body.Categories))
	for i, c := range e.Body.Categories {
		mode, _ := users.ParseMode(string(c.Mode)) // see Check
		all[i] = applications.Category{Name: strings.TrimSpace(c.Name), Description: strings.TrimSpace(c.Description), Mode: mode}
	}
	if err := a.deps.Store.SetCategories(ctx, found.ID, all, by.Name); err != nil {
		return out, err
	}
	return a.categories(ctx, by, OneApplication{found.Name})
}
