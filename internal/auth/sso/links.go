package sso

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// maxSubject is the maximum length of a subject in bytes; the standard allows 255.
const maxSubject = 500

// Filter selects linked accounts.
type Filter struct {
	operation.Paging
	User string `query:"user" json:"user,omitempty" doc:"Only accounts of this person."`
}

// One names a linked account.
type One struct {
	ID int64 `path:"identity" json:"id"`
}

// Account is an account at a provider that is to be linked to a person.
type Account struct {
	User     string `json:"user"`
	Provider string `json:"provider" doc:"The name of the provider in the configuration."`
	Subject  string `json:"subject"`
}

// Linking links one account, or all or none of many.
type Linking struct {
	User     string    `json:"user,omitempty"`
	Provider string    `json:"provider,omitempty" doc:"The name of the provider in the configuration."`
	Subject  string    `json:"subject,omitempty"`
	Many     []Account `json:"identities,omitzero" maxItems:"10000" doc:"Instead of the others: many accounts, of which all or none are linked."`
}

// Check implements operation.Checker.
func (l Linking) Check() error {
	var wrong fault.Wrong
	if l.Many != nil {
		wrong.If(l.User != "" || l.Provider != "" || l.Subject != "", "identities",
			"give either identities, or user, provider and subject")
		return wrong.Err()
	}
	for _, member := range [][2]string{{"user", l.User}, {"provider", l.Provider}, {"subject", l.Subject}} {
		wrong.If(member[1] == "", member[0], "%s is missing", member[0])
	}
	return wrong.Err()
}

// The operations on linked accounts, for administrators.
var (
	ListLinks = operation.Define[Filter, operation.Page[Linked]](operation.Doc{Name: "identity.list",
		Method: http.MethodGet, Path: "/v1/identities", Needs: operation.Admin,
		Summary: "Accounts at identity providers that are linked to people"})
	LinkAccounts = operation.Define[Linking, operation.None](operation.Doc{Name: "identity.link", Method: http.MethodPost,
		Path: "/v1/identities", Needs: operation.Admin, Status: http.StatusNoContent,
		Audit:   []audit.Action{audit.AccountLinked},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Link an account at an identity provider to a person", Note: "409: the account is linked already."})
	ListRefusals = operation.Define[operation.Paging, operation.Page[Refusal]](operation.Doc{Name: "identity.refused",
		Method: http.MethodGet, Path: "/v1/identities/refused", Needs: operation.Admin,
		Summary: "Accounts whose log-in was refused because nobody is linked", Note: "Kept for 30 days."})
	Unlink = operation.Define[One, operation.None](operation.Doc{Name: "identity.unlink", Method: http.MethodDelete,
		Path: "/v1/identities/{identity}", Needs: operation.Admin, Audit: []audit.Action{audit.AccountUnlinked},
		Summary: "Delete the link of an account; its sessions end"})
)

// LinkStore stores links. by is the author in the audit log.
type LinkStore interface {
	// Link links all accounts or none. An unknown person is a NotFound fault, a linked account a Conflict fault.
	Link(ctx context.Context, by string, links ...Linked) error
	// Unlink returns a NotFound fault for an unknown number.
	Unlink(ctx context.Context, by string, id int64) error
	// List and Refusals return at most so many rows with a larger number than after, by number.
	List(ctx context.Context, user string, after int64, most int) ([]Linked, error)
	Refusals(ctx context.Context, after int64, most int) ([]Refusal, error)
}

// Links are the operations. They are safe for concurrent use.
type Links struct {
	List     operation.Op[Filter, operation.Page[Linked]]
	Add      operation.Op[Linking, operation.None]
	Refusals operation.Op[operation.Paging, operation.Page[Refusal]]
	Unlink   operation.Op[One, operation.None]

	store   LinkStore
	issuers map[string]string
}

// NewLinks returns the operations. issuers has the issuer of each provider, by its name in the configuration.
func NewLinks(store LinkStore, issuers map[string]string) *Links {
	l := &Links{store: store, issuers: issuers}
	l.List, l.Add, l.Refusals, l.Unlink = ListLinks.By(l.list), LinkAccounts.By(l.add), ListRefusals.By(l.refusals), Unlink.By(l.unlink)
	return l
}

func (l *Links) list(ctx context.Context, _ operation.Actor, f Filter) (out operation.Page[Linked], err error) {
	after, err := f.Before()
	if err != nil {
		return out, err
	}
	found, err := l.store.List(ctx, f.User, after, f.Size()+1)
	return operation.PageOf(f.Paging, found, func(one Linked) int64 { return one.ID }), err
}

func (l *Links) refusals(ctx context.Context, _ operation.Actor, p operation.Paging) (out operation.Page[Refusal], err error) {
	after, err := p.Before()
	if err != nil {
		return out, err
	}
	found, err := l.store.Refusals(ctx, after, p.Size()+1)
	return operation.PageOf(p, found, func(one Refusal) int64 { return one.ID }), err
}

func (l *Links) add(ctx context.Context, by operation.Actor, in Linking) (none operation.None, err error) {
	if in.Many == nil {
		in.Many = []Account{{in.User, in.Provider, in.Subject}}
	}
	links := make([]Linked, len(in.Many))
	for i, one := range in.Many {
		links[i] = Linked{User: one.User, Provider: one.Provider, Subject: strings.TrimSpace(one.Subject),
			Issuer: l.issuers[one.Provider]}
		if n := len(links[i].Subject); n == 0 || n > maxSubject {
			return none, fault.Invalidf("subject", "the subject must have 1 to %d bytes", maxSubject)
		}
		if _, known := l.issuers[one.Provider]; !known {
			return none, fault.Invalidf("provider", "there is no provider %q in the configuration; known: %s",
				one.Provider, strings.Join(slices.Sorted(maps.Keys(l.issuers)), ", "))
		}
	}
	if err := l.store.Link(ctx, by.Name, links...); err != nil {
		return none, fault.When(err, fault.NotFound, fault.Invalidf("user", "%s", fault.Public(err)))
	}
	return none, nil
}

func (l *Links) unlink(ctx context.Context, by operation.Actor, one One) (none operation.None, err error) {
	return none, l.store.Unlink(ctx, by.Name, one.ID)
}
