package applications

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
)

// Application is an application as lists and pages show it. Keys are never part of it.
type Application struct {
	ID        int64
	Name      string
	CreatedAt time.Time
	// Templates of the predecessor's pages (Handlebars) and a sample context for them; nil = never set.
	ContextTemplate, SummaryTemplate, MobileTemplate, SampleContext *string

	TitleVariable     string   // "" = none
	Variables         []string // required ones first, then by name
	RequiredVariables []string
	Modes             []users.Mode // that it may use
	DefaultModes      map[users.Priority]users.Mode
	Owners            []string // by name
	OwnerIDs          []users.ID
	Team              users.OwningTeam // that owns the application and its integrations
	SenderAddresses   map[users.Mode]string
	SecondKey         bool // it has two keys
	Categories        []Category
}

// Change replaces the settings that PUT sends, all at once. A nil member leaves a setting unchanged.
type Change struct {
	ContextTemplate, SummaryTemplate, MobileTemplate, SampleContext *string // nil clears these four

	TitleVariable   string
	Variables       []string
	Required        *[]string // variables that senders should set; nil: those that exist already keep whether they are required
	Owners          *[]string
	Modes           *[]users.Mode
	DefaultModes    map[users.Priority]users.Mode // modes that it may not use are ignored
	SenderAddresses map[users.Mode]string         // "" removes one

	// IfMatch are the tags of which the application must have one; "*" is any, nil allows every state.
	IfMatch []string
}

// Match returns etag.ErrStale unless the application has one of the wanted tags. A nil wanted allows every state.
func (a Application) Match(wanted []string) error { return etag.Match(wanted, a.Tag()) }

// Tag identifies the state of the settings that Change replaces. Every change of these settings gives another tag.
func (a Application) Tag() string {
	return etag.Of([]any{a.ID, a.ContextTemplate, a.SummaryTemplate, a.MobileTemplate, a.SampleContext,
		a.TitleVariable, a.Variables, a.RequiredVariables,
		a.Modes, a.DefaultModes, a.OwnerIDs, a.SenderAddresses})
}

// Category is a kind of out-of-band notifications that an application defines, with its default mode.
type Category struct {
	ID          int64
	Application string
	Name        string
	Description string
	Mode        users.Mode
}

// Quota is how many messages an application may send before somebody is notified (soft) and before messages are dropped
// (hard).
type Quota struct {
	Application    string
	HardThreshold  int // messages in HardDuration
	SoftThreshold  int
	HardDuration   time.Duration // whole minutes count
	SoftDuration   time.Duration
	Plan           string // of the incident that a breach opens; "" = it was deleted
	Target         string // who is notified of a soft breach
	TargetKind     string // user, team or mailing-list
	WaitAfterwards time.Duration
	HardUse        int // messages in the last HardDuration
	SoftUse        int // messages in the last SoftDuration
}

// Why a quota cannot be set.
var (
	ErrQuotaPlan   = fault.Invalidf("plan", "there is no active plan of this name")
	ErrQuotaTarget = fault.Invalidf("target", "there is no person, team or mailing list of this name")
)

// FilterSchema names the fields of GET /v0/applications.
var FilterSchema = filters.Schema{
	"id": filters.Int, "name": filters.Text, "context_template": filters.Text, "sample_context": filters.Text,
	"summary_template": filters.Text, "mobile_template": filters.Text, "title_variable": filters.Text, "variables": filters.Text,
	"required_variables": filters.Text, "owners": filters.Text, "supported_modes": filters.Text, "created": filters.Time,
}
