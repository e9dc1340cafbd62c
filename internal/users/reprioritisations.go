package users

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Bounds of a reprioritisation. Windows are in seconds.
const (
	ShortestWindow = 60
	LongestWindow  = 3600
	MostMessages   = 255
)

// Reprioritisation sends messages that exceed Count in Source within Window to Destination.
type Reprioritisation struct {
	Source, Destination Mode
	Count               int
	Window              time.Duration // whole seconds
}

// String formats the rule for people: "beyond 10 sms in 5 min: email".
func (r Reprioritisation) String() string {
	return fmt.Sprintf("beyond %d %s in %s: %s", r.Count, r.Source, humanize.Duration(r.Window), r.Destination)
}

// Excess says what is too much of a mode, and what happens to it.
type Excess struct {
	Count         int   `json:"count" doc:"How many messages the person gets by the mode within the window, 1 to 255."`
	WindowSeconds int64 `json:"window_seconds" doc:"The length of the moving window in seconds, 60 to 3600."`
	To            Mode  `json:"to" doc:"The mode of further messages."`
}

// Check returns an Invalid fault with all that is wrong.
func (e Excess) Check() error {
	var wrong fault.Wrong
	wrong.If(e.Count < 1 || e.Count > MostMessages, "count", "count must be 1 to %d", MostMessages)
	wrong.If(e.WindowSeconds < ShortestWindow || e.WindowSeconds > LongestWindow, "window_seconds",
		"the window must be %d to %d seconds", ShortestWindow, LongestWindow)
	wrong.If(e.To == "", "to", "to must name the mode of further messages")
	checkMode(&wrong, "to", e.To)
	return wrong.Err()
}

// ShownReprioritisation is a Reprioritisation as callers see it.
type ShownReprioritisation struct {
	Mode Mode `json:"mode" doc:"The mode whose messages are counted."`
	Excess
}

// OneReprioritisation names the rule of a person for a mode.
type OneReprioritisation struct {
	OnePerson
	Mode string `path:"mode" json:"mode"`
}

// source returns the mode of the rule. What is no mode is a NotFound fault.
func (o OneReprioritisation) source() (Mode, error) {
	m, known := ParseMode(o.Mode)
	if !known {
		return m, fault.New(fault.NotFound, "there is no such mode: use email, sms, call, slack, push, webhook or drop")
	}
	return m, nil
}

// ReprioritisationEdit adds or replaces the rule of a person for a mode.
type ReprioritisationEdit struct {
	OneReprioritisation
	Body Excess `json:"body"`
}

// Check implements operation.Checker.
func (e ReprioritisationEdit) Check() error { return e.Body.Check() }

// The operations on reprioritisations.
var (
	ListReprioritisations = operation.Define[OnePerson, operation.Page[ShownReprioritisation]](operation.Doc{
		Name: "user.reprioritisations", Method: http.MethodGet, Path: "/v1/users/{user}/reprioritisations",
		Needs: operation.Reader, Rule: operation.OwnSettings,
		Summary: "The rules by which too many messages of one mode go to another mode"})
	GetReprioritisation = operation.Define[OneReprioritisation, ShownReprioritisation](operation.Doc{
		Name: "user.reprioritisation", Method: http.MethodGet, Path: "/v1/users/{user}/reprioritisations/{mode}",
		Needs: operation.Reader, Rule: operation.OwnSettings, Summary: "The rule of a mode", Note: "404: the mode has no rule."})
	SetReprioritisation = operation.Define[ReprioritisationEdit, ShownReprioritisation](operation.Doc{
		Name: "user.set-reprioritisation", Method: http.MethodPut, Path: "/v1/users/{user}/reprioritisations/{mode}",
		Needs: operation.Reader, Rule: operation.OwnSettings, Audit: []audit.Action{audit.ReprioritisationSet},
		Summary: "Add or replace the rule by which too many messages of a mode go to another mode"})
	RemoveReprioritisation = operation.Define[OneReprioritisation, operation.None](operation.Doc{
		Name: "user.remove-reprioritisation", Method: http.MethodDelete,
		Path:  "/v1/users/{user}/reprioritisations/{mode}",
		Needs: operation.Reader, Rule: operation.OwnSettings, Audit: []audit.Action{audit.ReprioritisationRemoved},
		Summary: "Remove the rule of a mode", Note: "404: the mode has no rule."})
)

// LimitKind has what all kinds of objects have. Pages call a reprioritisation the limit of a mode.
var LimitKind = operation.Kind(ListReprioritisations, GetReprioritisation, SetReprioritisation, RemoveReprioritisation,
	"MODE=mode", "COUNT=count", "SECONDS=window_seconds", "TO=to").Called("limit")

func noRule(source Mode) error { return fault.Newf(fault.NotFound, "there is no rule for %s", source) }

func (p *Preferences) reprioritisations(ctx context.Context, by operation.Actor, one OnePerson) (out operation.Page[ShownReprioritisation], err error) {
	u, err := p.owner(ctx, by, one)
	if err != nil {
		return out, err
	}
	found, err := p.store.Reprioritisations(ctx, u.ID)
	shown := make([]ShownReprioritisation, len(found))
	for i, r := range found {
		shown[i] = ShownReprioritisation{r.Source, Excess{r.Count, int64(r.Window / time.Second), r.Destination}}
	}
	return whole(shown), err
}

func (p *Preferences) reprioritisation(ctx context.Context, by operation.Actor, one OneReprioritisation) (out ShownReprioritisation, err error) {
	all, err := p.reprioritisations(ctx, by, one.OnePerson)
	if err != nil {
		return out, err
	}
	source, err := one.source()
	if err != nil {
		return out, err
	}
	for _, r := range all.Items {
		if r.Mode == source {
			return r, nil
		}
	}
	return out, noRule(source)
}

func (p *Preferences) setReprioritisation(ctx context.Context, by operation.Actor, e ReprioritisationEdit) (out ShownReprioritisation, err error) {
	u, err := p.owner(ctx, by, e.OnePerson)
	if err != nil {
		return out, err
	}
	source, err := e.source()
	if err != nil {
		return out, err
	}
	return ShownReprioritisation{source, e.Body}, p.store.SetReprioritisation(ctx, u, Reprioritisation{Source: source,
		Destination: e.Body.To, Count: e.Body.Count, Window: time.Duration(e.Body.WindowSeconds) * time.Second}, by.Name)
}

func (p *Preferences) removeReprioritisation(ctx context.Context, by operation.Actor, one OneReprioritisation) (none operation.None, err error) {
	u, err := p.owner(ctx, by, one.OnePerson)
	if err != nil {
		return none, err
	}
	source, err := one.source()
	if err != nil {
		return none, err
	}
	return none, fault.When(p.store.RemoveReprioritisation(ctx, u, source, by.Name), fault.NotFound, noRule(source))
}
