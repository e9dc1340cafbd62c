package oncallapi

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// routes returns the routes of feed keys.
func (a feedKeys) routes() []routing.Route {
	p := a.Personal
	return []routing.Route{
		routing.Get("/api/v0/ical_key/user/{user}", routing.Self, keyed(a, p.PersonFeed, ofUser, http.StatusOK)),
		routing.Post("/api/v0/ical_key/user/{user}", routing.Self, keyed(a, p.NewPersonFeed, ofUser, http.StatusCreated)),
		routing.Delete("/api/v0/ical_key/user/{user}", routing.Self, dropped(a, p.DropPersonFeed, ofUser)),
		routing.Get("/api/v0/ical_key/team/{team}", routing.Self, keyed(a, p.TeamFeed, ofTeam, http.StatusOK)),
		routing.Post("/api/v0/ical_key/team/{team}", routing.Self, a.newTeamKey),
		routing.Delete("/api/v0/ical_key/team/{team}", routing.Self, dropped(a, p.DropTeamFeed, ofTeam)),
		routing.Get("/api/v0/ical_key/key/{key}", routing.Self, a.getKey),
		routing.Delete("/api/v0/ical_key/key/{key}", routing.Self, dropped(a, p.RemoveFeed, ofKey)),
		routing.Get("/api/v0/ical_key/requester/{user}", routing.Self, a.listKeys),
		routing.Delete("/api/v0/ical_key/requester/{user}", routing.Self, dropped(a, p.RemoveFeeds, ofUser)),
	}
}

func ofUser(r *http.Request) users.OnePerson { return users.OnePerson{User: routing.Param(r, "user")} }
func ofTeam(r *http.Request) users.OneTeam   { return users.OneTeam{Team: routing.Param(r, "team")} }
func ofKey(r *http.Request) personal.OneFeed { return personal.OneFeed{Key: routing.Param(r, "key")} }

// keyed answers with a key as text.
func keyed[In any](a feedKeys, op operation.Op[In, personal.FeedKey], in func(*http.Request) In, status int) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := op.Do(r.Context(), a.Caller(r), in(r))
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(key.Key))
		return nil
	}
}

// dropped answers without a body.
func dropped[In any](a feedKeys, op operation.Op[In, operation.None], in func(*http.Request) In) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		_, err := op.Do(r.Context(), a.Caller(r), in(r))
		return routing.Done(w, http.StatusOK, err)
	}
}

func (a feedKeys) newTeamKey(w http.ResponseWriter, r *http.Request) error {
	err := keyed(a, a.Personal.NewTeamFeed, ofTeam, http.StatusCreated)(w, r)
	return fault.When(err, fault.NotFound, fault.Titled("Invalid team name", `Team "`+routing.Param(r, "team")+
		`" does not exist or is inactive`))
}

// getKey answers with what a key opens.
func (a feedKeys) getKey(w http.ResponseWriter, r *http.Request) error {
	k, err := a.Personal.Feed.Do(r.Context(), a.Caller(r), ofKey(r))
	return routing.Reply(w, http.StatusOK, []map[string]any{{
		"requester": k.Requester, "name": k.Name, "type": k.Kind, "time_created": k.CreatedAt.Unix(),
	}}, err)
}

// listKeys answers with all keys of a requester. If there is none, the answer is a 404.
func (a feedKeys) listKeys(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Personal.Feeds.Do(r.Context(), a.Caller(r), ofUser(r))
	if err == nil && len(found.Items) == 0 {
		err = ErrGone
	}
	out := make([]map[string]any, len(found.Items))
	for i, k := range found.Items {
		out[i] = map[string]any{"key": k.Key, "name": k.Name, "type": k.Kind, "time_created": k.CreatedAt.Unix()}
	}
	return routing.Reply(w, http.StatusOK, out, err)
}
