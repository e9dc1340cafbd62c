package oncallapi

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// routes returns the routes of feed keys.
func (a feedKeys) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/ical_key/user/{user}", routing.Self, a.feedKey("view")),
		routing.Post("/api/v0/ical_key/user/{user}", routing.Self, a.feedKey("update")),
		routing.Delete("/api/v0/ical_key/user/{user}", routing.Self, a.feedKey("delete")),
		routing.Get("/api/v0/ical_key/team/{team}", routing.Self, a.feedKey("view")),
		routing.Post("/api/v0/ical_key/team/{team}", routing.Self, a.feedKey("update")),
		routing.Delete("/api/v0/ical_key/team/{team}", routing.Self, a.feedKey("delete")),
		routing.Get("/api/v0/ical_key/key/{key}", routing.Self, a.getKey),
		routing.Delete("/api/v0/ical_key/key/{key}", routing.Self, a.deleteKey),
		routing.Get("/api/v0/ical_key/requester/{user}", routing.Self, a.listKeys),
		routing.Delete("/api/v0/ical_key/requester/{user}", routing.Self, a.deleteKeys),
	}
}

// requester returns the caller as a person. It refuses applications, because feed keys belong to people.
func (a feedKeys) requester(r *http.Request) (oncall.Person, error) {
	actor := wire.Actor(r.Context())
	if actor.Username == "" {
		return oncall.Person{}, auth.ErrPersonNeeded
	}
	p, err := a.People.ByName(r.Context(), actor.Username)
	return p, fault.When(err, fault.NotFound, auth.ErrPersonNeeded)
}

// feedKey returns the handler for the caller's key of a calendar. It answers with (view), replaces (update) or deletes
// the key.
func (a feedKeys) feedKey(verb string) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		me, err := a.requester(r)
		if err != nil {
			return err
		}
		of, err := a.feedOf(r, me, verb)
		if err != nil {
			return err
		}
		switch verb {
		case "view":
			key, err := a.Notices.KeyFor(r.Context(), me.ID, of)
			if err != nil {
				return err
			}
			return plainText(w, http.StatusOK, key.Key)
		case "update":
			key, err := a.Notices.NewKey(r.Context(), me.ID, of)
			if err != nil {
				return err
			}
			return plainText(w, http.StatusCreated, key)
		}
		return routing.Done(w, http.StatusOK, a.Notices.DropKeyFor(r.Context(), me.ID, of))
	}
}

// feedOf finds the calendar that the path names. Only the caller's own and those of teams are allowed.
func (a feedKeys) feedOf(r *http.Request, me oncall.Person, verb string) (oncall.IcalSubject, error) {
	if name := routing.Param(r, "user"); name != "" {
		u, err := a.People.ByName(r.Context(), name)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return oncall.IcalSubject{}, err
		}
		if err != nil || u.ID != me.ID {
			return oncall.IcalSubject{}, &fault.Error{Kind: fault.Forbidden, Message: "Unauthorized",
				Detail: `Action not allowed: "` + me.Name + `" is not allowed to ` + verb + ` ical_key of "` + name +
					`"`}
		}
		return oncall.IcalSubject{User: me.ID}, nil
	}
	t, err := a.Team(r)
	if verb == "update" {
		err = fault.When(err, fault.NotFound, fault.Titled("Invalid team name", `Team "`+routing.Param(r, "team")+
			`" does not exist or is inactive`))
	}
	return oncall.IcalSubject{TeamID: t.ID}, err
}

// plainText answers with a key as text.
func plainText(w http.ResponseWriter, status int, s string) error {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(s))
	return nil
}

// keyKind returns "user" or "team" for the calendar of a key.
func keyKind(k oncall.IcalKey) string {
	if k.TeamID != 0 {
		return "team"
	}
	return "user"
}

// knownKey finds the key of the path. It refuses callers who are neither its requester nor an administrator.
func (a feedKeys) knownKey(r *http.Request) (oncall.IcalKey, error) {
	key, err := a.Notices.Key(r.Context(), routing.Param(r, "key"))
	if err != nil {
		return key, err
	}
	actor := wire.Actor(r.Context())
	if actor.Username == "" {
		return key, auth.ErrPersonNeeded
	}
	if actor.MayUseKeysOf(users.User{ID: key.RequesterID, Name: key.Requester}, "view") != nil {
		return key, actor.ErrNotKeyAdmin()
	}
	return key, nil
}

// getKey answers with what a key opens, to its requester and to administrators.
func (a feedKeys) getKey(w http.ResponseWriter, r *http.Request) error {
	key, err := a.knownKey(r)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, []map[string]any{{
		"requester": key.Requester, "name": key.Name, "type": keyKind(key), "time_created": key.CreatedAt.Unix(),
	}})
}

// deleteKey deletes a key, for its requester and administrators.
func (a feedKeys) deleteKey(w http.ResponseWriter, r *http.Request) error {
	key, err := a.knownKey(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Notices.DropKey(r.Context(), key.Key))
}

// keysOf finds the requester that the path names. It refuses callers who are neither that person nor an administrator.
func (a feedKeys) keysOf(r *http.Request, verb string) (oncall.Person, error) {
	name := routing.Param(r, "user")
	u, err := a.People.ByName(r.Context(), name)
	if err != nil {
		u.User = users.User{Name: name}
	}
	if refused := wire.Actor(r.Context()).MayUseKeysOf(u.User, verb); refused != nil && (err == nil || fault.Is(err, fault.NotFound)) {
		return oncall.Person{}, refused
	}
	return u, err
}

// listKeys answers with all keys of a requester, to the requester and to administrators.
func (a feedKeys) listKeys(w http.ResponseWriter, r *http.Request) error {
	u, err := a.keysOf(r, "view")
	if err != nil {
		return err
	}
	keys, err := a.Notices.Keys(r.Context(), u.ID)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return ErrGone
	}
	out := make([]map[string]any, len(keys))
	for i, k := range keys {
		out[i] = map[string]any{"key": k.Key, "name": k.Name, "type": keyKind(k), "time_created": k.CreatedAt.Unix()}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// deleteKeys deletes all keys of a requester, for the requester and administrators.
func (a feedKeys) deleteKeys(w http.ResponseWriter, r *http.Request) error {
	u, err := a.keysOf(r, "delete")
	if err != nil {
		return err
	}
	if _, err := a.Notices.DropKeys(r.Context(), u.ID); err != nil {
		return err
	}
	return routing.Empty(w, http.StatusOK)
}
