package messages

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/jinja"
)

// TemplateID identifies one immutable version of a template.
type TemplateID int64

// TemplateVersion is one version of a named template as lists show it.
type TemplateVersion struct {
	ID        TemplateID
	Name      string
	Creator   string
	CreatorID users.ID
	CreatedAt time.Time
	Active    bool
	Team      users.OwningTeam
	PlanCount int // active plans that name the template; only lists with a limit have it
}

// TemplateText is a template's text for one application in one mode.
type TemplateText struct {
	Application string
	Mode        users.Mode
	TemplateContent
}

// TemplateDetails is a version with its texts and the active plans that name it.
type TemplateDetails struct {
	TemplateVersion
	Texts []TemplateText
	Plans []NamedPlan
}

// NamedPlan is a plan's number and name.
type NamedPlan struct {
	ID   int64
	Name string
}

// NewTemplate is a template version about to be saved.
type NewTemplate struct {
	Name      string
	CreatorID users.ID
	Texts     []TemplateText
	Replaces  *TemplateID // the version that must be active when this one is stored; 0 = none may be active, nil = any
	Team      int64       // that owns the new template; 0 = the owner stays
}

// TemplateFilters names the filter fields of GET /v0/templates.
var TemplateFilters = filters.Schema{
	"id": filters.Int, "name": filters.Text, "creator": filters.Text, "created": filters.Time, "active": filters.Bool,
}

// CheckSyntax returns the error in the source of a template; nil = none.
func CheckSyntax(source string) error {
	_, err := jinja.Compile(source, jinja.Limits{})
	return err
}
