// Package links does what operators do with the log-ins of people: it links and lists accounts at identity providers, and removes second factors.
// Every change is in the audit log. Commands are commands of cmd/iris. It knows no HTTP.
package links

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/accounts"
	"github.com/iris-oncall/iris/internal/postgres/identities"
	"github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/sso"
)

// Links performs the operations. It is safe for concurrent use.
type Links struct {
	identities sso.Links
	factors    *accounts.Factors
	people     *people.Users
}

// New returns the operations on a database. issuers are those of the configured providers, by name.
func New(db *postgres.DB, issuers map[string]string) *Links {
	return &Links{sso.Links{LinkStore: identities.New(db), Issuers: issuers}, accounts.NewFactors(db), people.NewUsers(db)}
}

// operatorName is the actor in the audit log.
const operatorName = "iris command"

// mostListed is how many links one read returns.
const mostListed = 1000

// Add links an account at a provider to a user.
func (l *Links) Add(ctx context.Context, user, provider, subject string) error {
	return l.identities.Add(ctx, operatorName, sso.Linked{User: user, Provider: provider, Subject: subject})
}

// AddAll links the accounts of a list with a line "user,provider,subject" for each: all or none. It returns how many.
func (l *Links) AddAll(ctx context.Context, list io.Reader) (int, error) {
	lines := csv.NewReader(list)
	lines.FieldsPerRecord, lines.TrimLeadingSpace, lines.Comment = 3, true, '#'
	var links []sso.Linked
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, fault.Wrap(fault.Invalid, err, "each line must be user,provider,subject: "+err.Error())
		}
		links = append(links, sso.Linked{User: strings.TrimSpace(line[0]), Provider: strings.TrimSpace(line[1]), Subject: line[2]})
	}
	return len(links), l.identities.Add(ctx, operatorName, links...)
}

// List returns the linked accounts of a user; "" = of all.
func (l *Links) List(ctx context.Context, user string) ([]sso.Linked, error) {
	return all(func(after int64) ([]sso.Linked, error) { return l.identities.List(ctx, user, after, mostListed) }, func(k sso.Linked) int64 { return k.ID })
}

// Refused returns the accounts whose log-in was refused.
func (l *Links) Refused(ctx context.Context) ([]sso.Refusal, error) {
	return all(func(after int64) ([]sso.Refusal, error) { return l.identities.Refusals(ctx, after, mostListed) }, func(r sso.Refusal) int64 { return r.ID })
}

// all reads a list page by page.
func all[T any](read func(after int64) ([]T, error), id func(T) int64) (out []T, err error) {
	for after := int64(0); ; after = id(out[len(out)-1]) {
		found, err := read(after)
		out = append(out, found...)
		if err != nil || len(found) < mostListed {
			return out, err
		}
	}
}

// Remove deletes a link by its number.
func (l *Links) Remove(ctx context.Context, id int64) error {
	return l.identities.Unlink(ctx, operatorName, id)
}

// RemoveFactor removes the second factor of a user, and returns the name in its stored spelling. Without one, it returns a NotFound fault.
func (l *Links) RemoveFactor(ctx context.Context, user string) (name string, err error) {
	u, err := l.people.ByName(ctx, user)
	if fault.Is(err, fault.NotFound) {
		return "", fault.Newf(fault.NotFound, "there is no user %q", user)
	}
	if err != nil {
		return "", err
	}
	return u.Name, l.factors.Remove(ctx, u, operatorName)
}
