package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Rules stores how people are notified of pages. NotificationRules returns one rule for every priority.
type Rules interface {
	NotificationRules(ctx context.Context, id users.ID) ([]users.NotificationRule, error)
	SetNotificationRules(ctx context.Context, u users.User, rules []users.NotificationRule, by string) error
}

// rules are the routes of the notification rules of people.
type rules struct{ Deps }

func (a rules) routes() []routing.Route {
	const path = "/v1/users/{user}/notification-rules"
	return []routing.Route{
		routing.Get(path, routing.Self, a.get),
		routing.Put(path, routing.Self, a.put),
	}
}

// apiRule is a rule on the wire.
type apiRule struct {
	Priority  users.Priority `json:"priority"`
	Mode      *users.Mode    `json:"mode"` // null = the default of the priority
	FollowUps []apiFollowUp  `json:"follow_ups"`
}

type apiFollowUp struct {
	Mode         users.Mode `json:"mode"`
	DelaySeconds int64      `json:"delay_seconds"`
}

func (a rules) get(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	return a.answer(w, r, u)
}

// put replaces the rules of a person. A priority without a rule has no choice and no follow-ups.
func (a rules) put(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	given, err := readRules(w, r)
	if err != nil {
		return err
	}
	if given, err = users.CheckRules(given); err != nil {
		return err
	}
	if err := a.Rules.SetNotificationRules(r.Context(), u.User, given, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	return a.answer(w, r, u)
}

// owner finds the user of the path. It refuses callers who may not change the user's settings.
func (a Deps) owner(r *http.Request) (oncall.Person, error) {
	gone := fault.New(fault.NotFound, "there is no such user")
	name := wire.Param(r, "user")
	if !wire.Storable(name) {
		return oncall.Person{}, gone
	}
	u, err := a.People.ByName(r.Context(), name)
	if err != nil {
		return u, fault.When(err, fault.NotFound, gone)
	}
	return u, wire.Actor(r.Context()).MaySelf(u.User)
}

func (a rules) answer(w http.ResponseWriter, r *http.Request, u oncall.Person) error {
	found, err := a.Rules.NotificationRules(r.Context(), u.ID)
	if err != nil {
		return err
	}
	out := make([]apiRule, len(found))
	for i, n := range found {
		out[i] = apiRule{Priority: n.Priority, FollowUps: []apiFollowUp{}}
		if n.Mode != "" {
			out[i].Mode = &n.Mode
		}
		for _, f := range n.FollowUps {
			out[i].FollowUps = append(out[i].FollowUps, apiFollowUp{f.Mode, int64(f.After / time.Second)})
		}
	}
	return routing.Answer(w, http.StatusOK, map[string]any{"rules": out})
}

func readRules(w http.ResponseWriter, r *http.Request) ([]users.NotificationRule, error) {
	b, err := jsonbody.ReadKnown(w, r, "rules")
	if err != nil {
		return nil, err
	}
	given, err := b.Objects("rules", len(users.Priorities), "priority", "mode", "follow_ups")
	if err != nil {
		return nil, err
	}
	out := make([]users.NotificationRule, len(given))
	for i, g := range given {
		priority := jsonbody.Next(&err, g.Required, "priority")
		mode := jsonbody.Next(&err, g.Text, "mode")
		if err != nil {
			return nil, err
		}
		out[i] = users.NotificationRule{Priority: users.Priority(priority), Mode: users.Mode(mode)}
		if !g.Given("follow_ups") {
			continue
		}
		if out[i].FollowUps, err = readFollowUps(g); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readFollowUps(rule jsonbody.Object) ([]users.FollowUp, error) {
	given, err := rule.Objects("follow_ups", users.MaxFollowUps, "mode", "delay_seconds")
	if err != nil {
		return nil, err
	}
	out := make([]users.FollowUp, len(given))
	for i, g := range given {
		mode, err := g.Required("mode")
		if err != nil {
			return nil, err
		}
		seconds, err := g.Whole("delay_seconds", int64(users.MaxFollowUpDelay/time.Second), 0)
		if err != nil {
			return nil, err
		}
		out[i] = users.FollowUp{Mode: users.Mode(mode), After: time.Duration(seconds) * time.Second}
	}
	return out, nil
}
