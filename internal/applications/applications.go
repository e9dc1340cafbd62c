// Package applications knows what people set of the programs that call Iris: what their incidents hold, in which modes
// they speak, who owns them, how much they may send, and the figures that tell how that went. Who a program is, and what
// it may do, is auth's.
package applications

import (
	"time"

	"github.com/iris-oncall/iris/internal/etag"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/users"
)

// Application is an application as lists and pages show it. Keys are never part of it.
type Application struct {
	ID        int64
	Name      string
	CreatedAt time.Time
	// Templates of the predecessor's pages (Handlebars) and a context to try them on; nil = never set.
	ContextTemplate, SummaryTemplate, MobileTemplate, SampleContext *string

	TitleVariable     string   // "" = none
	Variables         []string // required ones first, then by name
	RequiredVariables []string
	Modes             []users.Mode // that it may use
	DefaultModes      map[users.Priority]users.Mode
	Owners            []string // by name
	OwnerIDs          []users.ID
	SenderAddresses   map[users.Mode]string
	Categories        []Category
}

// Change is what PUT replaces of an application, all of it at once. A nil member leaves what is there.
type Change struct {
	ContextTemplate, SummaryTemplate, MobileTemplate, SampleContext *string // nil clears these four

	TitleVariable   string
	Variables       []string // those that stay keep whether they are required
	Owners          *[]string
	Modes           *[]users.Mode
	DefaultModes    map[users.Priority]users.Mode // modes that it may not use are left out
	SenderAddresses map[users.Mode]string         // "" removes one

	// IfMatch are the tags of which the application must have one; "*" is any, nil allows every state.
	IfMatch []string
}

// Tag names the state of what Change replaces: it is another one after every change.
func (a Application) Tag() string {
	return etag.Of([]any{a.ID, a.ContextTemplate, a.SummaryTemplate, a.MobileTemplate, a.SampleContext, a.TitleVariable, a.Variables,
		a.Modes, a.DefaultModes, a.OwnerIDs, a.SenderAddresses})
}

// Category is a kind of out-of-band notifications that an application names, with the mode in which it comes.
type Category struct {
	ID          int64
	Application string
	Name        string
	Description string
	Mode        users.Mode
}

// Quota is how much an application may send before somebody hears of it (soft) and before it is dropped (hard).
type Quota struct {
	Application    string
	HardThreshold  int // messages in HardDuration
	SoftThreshold  int
	HardDuration   time.Duration // whole minutes count
	SoftDuration   time.Duration
	Plan           string // of the incident that a breach opens; "" = it was deleted
	Target         string // who hears of a soft breach
	TargetKind     string // user, team or mailing-list
	WaitAfterwards time.Duration
}

// FilterSchema names the fields of GET /v0/applications.
var FilterSchema = filters.Schema{
	"id": filters.Int, "name": filters.Text, "context_template": filters.Text, "sample_context": filters.Text,
	"summary_template": filters.Text, "mobile_template": filters.Text, "title_variable": filters.Text, "variables": filters.Text,
	"required_variables": filters.Text, "owners": filters.Text, "supported_modes": filters.Text, "created": filters.Time,
}
