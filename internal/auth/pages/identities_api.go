// This file serves the routes of /v1 about the accounts of people at identity providers. Only administrators may use
// them.

package pages

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

type identityRoutes struct{ sso.Links }

// IdentityRoutes returns the routes on the links.
func IdentityRoutes(l sso.Links) []routing.Route {
	a := identityRoutes{l}
	return []routing.Route{
		routing.Get("/v1/identities", routing.Someone, a.list),
		routing.Post("/v1/identities", routing.Write, a.link),
		routing.Get("/v1/identities/refused", routing.Someone, a.refused),
		routing.Delete("/v1/identities/{identity}", routing.Write, a.unlink),
	}
}

// identity is a linked account on the wire.
type identity struct {
	ID          int64   `json:"id"`
	User        string  `json:"user"`
	Provider    string  `json:"provider"`
	Issuer      string  `json:"issuer"`
	Subject     string  `json:"subject"`
	CreatedAt   *string `json:"created_at"`
	LastLoginAt *string `json:"last_login_at"`
}

func identityShow(l sso.Linked) any {
	return identity{ID: l.ID, User: l.User, Provider: l.Provider, Issuer: l.Issuer, Subject: l.Subject,
		CreatedAt: listing.Time(l.CreatedAt), LastLoginAt: listing.Time(l.LastLoginAt)}
}

// refusal is a refused account on the wire.
type refusal struct {
	ID       int64   `json:"id"`
	Provider string  `json:"provider"`
	Issuer   string  `json:"issuer"`
	Subject  string  `json:"subject"`
	Name     *string `json:"name"`
	Email    *string `json:"email"`
	Reason   string  `json:"reason"`
	Attempts int     `json:"attempts"`
	LastAt   *string `json:"last_at"`
}

func showRefusal(r sso.Refusal) any {
	return refusal{ID: r.ID, Provider: r.Provider, Issuer: r.Issuer, Subject: r.Subject, Name: listing.OrNull(r.Name),
		Email: listing.OrNull(r.Email), Reason: r.Reason,
		Attempts: r.Attempts, LastAt: listing.Time(r.LastAt)}
}

// read checks that an administrator asks, and returns the query and the number in its cursor; 0 = the first page.
func read(r *http.Request, known ...string) (q listing.Query, after int64, err error) {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return q, 0, err
	}
	if q, err = listing.Read(r, known...); err != nil || q.AfterName() == "" {
		return q, 0, err
	}
	if after, err = strconv.ParseInt(q.AfterName(), 10, 64); err != nil || after <= 0 {
		return q, 0, listing.BadCursor()
	}
	return q, after, nil
}

// list answers with the linked accounts, of a person with ?user=NAME, by number.
func (a identityRoutes) list(w http.ResponseWriter, r *http.Request) error {
	q, after, err := read(r, "user")
	if err != nil {
		return err
	}
	user, _ := q.Text("user")
	found, err := a.List(r.Context(), user, after, q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, identityShow,
		func(l sso.Linked) string { return strconv.FormatInt(l.ID, 10) })
}

// refused answers with the accounts whose log-in was refused, by number.
func (a identityRoutes) refused(w http.ResponseWriter, r *http.Request) error {
	q, after, err := read(r)
	if err != nil {
		return err
	}
	found, err := a.Refusals(r.Context(), after, q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, showRefusal,
		func(f sso.Refusal) string { return strconv.FormatInt(f.ID, 10) })
}

func (a identityRoutes) link(w http.ResponseWriter, r *http.Request) error {
	by := wire.Actor(r.Context())
	if err := by.MayAdminister(); err != nil {
		return err
	}
	links, err := given(w, r)
	if err != nil {
		return err
	}
	if err := a.Add(r.Context(), by.String(), links...); err != nil {
		return fault.When(err, fault.NotFound, fault.Invalidf("user", "%s", fault.Public(err)))
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// mostLinked is how many accounts a request links at most.
const mostLinked = 10_000

// given reads the account of the body, or the list of them.
func given(w http.ResponseWriter, r *http.Request) ([]sso.Linked, error) {
	fields := []string{"user", "provider", "subject"}
	b, err := jsonbody.ReadKnown(w, r, append(fields, "identities")...)
	if err != nil {
		return nil, err
	}
	all := []jsonbody.Object{b}
	if b.Given("identities") {
		if slices.ContainsFunc(fields, b.Given) {
			return nil, fault.Invalidf("identities", "give either identities, or user, provider and subject")
		}
		if all, err = b.Objects("identities", mostLinked, fields...); err != nil {
			return nil, err
		}
	}
	out := make([]sso.Linked, len(all))
	for i, one := range all {
		out[i] = sso.Linked{User: jsonbody.Next(&err, one.Required, "user"),
			Provider: jsonbody.Next(&err, one.Required, "provider"),
			Subject:  jsonbody.Next(&err, one.Required, "subject")}
	}
	return out, err
}

func (a identityRoutes) unlink(w http.ResponseWriter, r *http.Request) error {
	by := wire.Actor(r.Context())
	if err := by.MayAdminister(); err != nil {
		return err
	}
	id, err := strconv.ParseInt(wire.Param(r, "identity"), 10, 64)
	if err != nil || id <= 0 {
		return fault.New(fault.NotFound, "there is no such link")
	}
	if err := a.Unlink(r.Context(), by.String(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
