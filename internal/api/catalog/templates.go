package catalog

import (
	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/messages"
)

func (d Deps) templates() resource[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID] {
	return resource[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID]{
		Versions: d.Templates, authors: d.authors(), kind: "template", members: []string{"content"},
		row: func(t messages.TemplateVersion) any { return templateRow{showTemplate(t), t.PlanCount} }, show: showWholeTemplate, name: templateName, save: d.saveTemplate,
		place: func(t messages.TemplateVersion) filters.Place { return filters.Place{At: t.CreatedAt, ID: int64(t.ID)} },
		head: func(t messages.TemplateDetails) (messages.TemplateID, catalog.Version) {
			return t.ID, catalog.Version{Kind: "template", Name: t.Name, Creator: t.Creator, CreatorID: t.CreatorID, Team: t.Team}
		},
	}
}

// templateRow is a template as lists show it.
type templateRow struct {
	version
	PlanCount int `json:"plan_count"`
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
	return version{ID: int64(t.ID), Name: t.Name, Active: t.Active, Creator: t.Creator, Team: page.OrNull(t.Team.Name), CreatedAt: page.Time(t.CreatedAt)}
}

func showWholeTemplate(t messages.TemplateDetails, mayEdit bool) any {
	body := wholeTemplate{version: showTemplate(t.TemplateVersion), Content: make([]content, len(t.Texts)), Plans: make([]string, len(t.Plans))}
	body.MayEdit = &mayEdit
	for i, c := range t.Texts {
		body.Content[i] = content{Application: c.Application, Mode: string(c.Mode), Subject: c.Subject, Body: c.Body, EmailHTML: page.OrNull(c.EmailHTML)}
	}
	for i, p := range t.Plans {
		body.Plans[i] = p.Name
	}
	return body
}
