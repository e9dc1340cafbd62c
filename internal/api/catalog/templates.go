package catalog

import (
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a templates) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/templates", routing.Someone, a.list),
		routing.Post("/v1/templates", routing.Write, a.create),
		routing.Get("/v1/templates/{template}", routing.Someone, a.get),
		routing.Put("/v1/templates/{template}", routing.Write, a.replace),
	}
}

// wholeTemplate is a template as its own route shows it.
type wholeTemplate struct {
	version
	Content []content `json:"content"`
	Plans   []string  `json:"plans"`
}

// content is the text of a template for one application in one mode.
type content struct {
	Application string  `json:"application"`
	Mode        string  `json:"mode"`
	Subject     string  `json:"subject"`
	Body        string  `json:"body"`
	EmailHTML   *string `json:"email_html"`
}

func showTemplate(t messages.TemplateVersion) version {
	return version{ID: int64(t.ID), Name: t.Name, Active: t.Active, Creator: t.Creator, CreatedAt: page.Time(t.CreatedAt)}
}

func (a templates) list(w http.ResponseWriter, r *http.Request) error {
	q, query, err := versioned(r)
	if err != nil {
		return err
	}
	found, err := a.Templates.List(r.Context(), query)
	if err != nil {
		return err
	}
	return page.Answer(w, q, found, func(t messages.TemplateVersion) any { return showTemplate(t) },
		func(t messages.TemplateVersion) (time.Time, int64) { return t.CreatedAt, int64(t.ID) })
}

func (a templates) get(w http.ResponseWriter, r *http.Request) error {
	id, name, err := named(r, "template")
	if err != nil {
		return err
	}
	var t messages.TemplateDetails
	if name == "" {
		t, err = a.Templates.ByID(r.Context(), messages.TemplateID(id))
	} else {
		t, err = a.Templates.ByName(r.Context(), name)
	}
	if err != nil {
		return missing(err, "template")
	}
	routing.ShowTag(w, tag(int64(t.ID)))
	return routing.Answer(w, http.StatusOK, showWholeTemplate(t))
}

func showWholeTemplate(t messages.TemplateDetails) wholeTemplate {
	body := wholeTemplate{version: showTemplate(t.TemplateVersion), Content: make([]content, len(t.Texts)), Plans: make([]string, len(t.Plans))}
	for i, c := range t.Texts {
		body.Content[i] = content{Application: c.Application, Mode: string(c.Mode), Subject: c.Subject, Body: c.Body, EmailHTML: page.OrNull(c.EmailHTML)}
	}
	for i, p := range t.Plans {
		body.Plans[i] = p.Name
	}
	return body
}
