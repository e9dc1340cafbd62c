package messages

import (
	"time"

	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/users"
)

// TemplateID numbers one immutable version of a template.
type TemplateID int64

// TemplateVersion is one version of a named template as lists show it.
type TemplateVersion struct {
	ID        TemplateID
	Name      string
	Creator   string
	CreatorID users.ID
	CreatedAt time.Time
	Active    bool
}

// TemplateWords are what a template says for one application in one mode.
type TemplateWords struct {
	Application string
	Mode        users.Mode
	TemplateContent
}

// TemplateDetails is a version with its words and the active plans that name it.
type TemplateDetails struct {
	TemplateVersion
	Words []TemplateWords
	Plans []NamedPlan
}

// NamedPlan is a plan's number and name.
type NamedPlan struct {
	ID   int64
	Name string
}

// TemplateDraft is a template version about to be saved.
type TemplateDraft struct {
	Name      string
	CreatorID users.ID
	Words     []TemplateWords
	// Replaces is the version that must be the active one when this one is stored; 0 = none may be active, nil = any.
	Replaces *TemplateID
}

// TemplateFilters names the fields of GET /v0/templates.
var TemplateFilters = filters.Schema{
	"id": filters.Int, "name": filters.Text, "creator": filters.Text, "created": filters.Time, "active": filters.Bool,
}
