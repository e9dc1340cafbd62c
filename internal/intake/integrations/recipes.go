package integrations

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Recipe says how the payloads of a sender are read.
type Recipe struct {
	Name      string         `json:"name"`
	Label     string         `json:"label"`
	About     string         `json:"about"`
	Setup     operation.Text `json:"setup" doc:"What to do in the sender. ADDRESS, WITHTOKEN and TOKEN stand for the address without and with the token, and the token."`
	MailSetup operation.Text `json:"mail_setup" doc:"The same for mails."`
	Webhook   bool           `json:"webhook" doc:"It reads payloads of integrations of type generic and sns."`
	Mail      bool           `json:"mail" doc:"It reads mails of integrations of type email."`
	Samples   []RecipeSample `json:"samples"`
}

// RecipeSample is a delivery of the sender.
type RecipeSample struct {
	Name        string         `json:"name"`
	From        string         `json:"from" doc:"Where it comes from."`
	Mail        bool           `json:"mail"`
	ContentType operation.Text `json:"content_type"`
	Body        string         `json:"body"`
}

// ListRecipes is the operation that lists the recipes.
var ListRecipes = operation.Define[operation.Paging, operation.Page[Recipe]](operation.Doc{Name: "recipe.list",
	Method: http.MethodGet, Path: "/v1/recipes", Needs: operation.Reader,
	Summary: "Recipes by name: the senders whose payloads and mails are known"})

func (i *Integrations) listRecipes(_ context.Context, _ operation.Actor, p operation.Paging) (operation.Page[Recipe], error) {
	all := make([]Recipe, 0, len(i.deps.Recipes.All()))
	for _, r := range i.deps.Recipes.All() {
		one := Recipe{Name: r.Name, Label: r.Label, About: r.About, Setup: operation.Text(r.Setup),
			MailSetup: operation.Text(r.MailSetup), Webhook: len(r.Webhook) > 0, Mail: len(r.Mail) > 0, Samples: []RecipeSample{}}
		for _, s := range r.Samples {
			one.Samples = append(one.Samples, RecipeSample{s.Name, s.From, s.Mail, operation.Text(s.ContentType), s.Body})
		}
		all = append(all, one)
	}
	return operation.PageByName(p, all, func(r Recipe) string { return r.Name })
}

// sample finds a sample of a recipe; the first one if it has no name.
func sample(book *recipes.Book, of SampleName) (recipes.Sample, error) {
	r, ok := book.Named(string(of.Recipe))
	if !ok {
		return recipes.Sample{}, fault.Invalidf("sample.recipe", "there is no recipe %.60q", string(of.Recipe))
	}
	for _, s := range r.Samples {
		if of.Name == "" || s.Name == string(of.Name) {
			return s, nil
		}
	}
	return recipes.Sample{}, fault.Invalidf("sample.name", "the recipe %s has no sample %.60q", r.Name, string(of.Name))
}
