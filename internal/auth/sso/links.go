package sso

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// maxSubject is the maximum length of a subject in bytes; the standard allows 255.
const maxSubject = 500

// LinkStore stores links. by is the author in the audit log.
type LinkStore interface {
	Link(ctx context.Context, by string, links ...Linked) error
	Unlink(ctx context.Context, by string, id int64) error
	List(ctx context.Context, user string, after int64, most int) ([]Linked, error)
	Refusals(ctx context.Context, after int64, most int) ([]Refusal, error)
}

// Links links accounts to people by hand. It is safe for concurrent use.
type Links struct {
	LinkStore
	Issuers map[string]string // by the name of the provider
}

// Add links accounts: all or none. The links need User, Provider and Subject. It returns an Invalid fault for an
// unknown provider.
func (l Links) Add(ctx context.Context, by string, links ...Linked) error {
	links = slices.Clone(links)
	for i := range links {
		k := &links[i]
		k.Subject = strings.TrimSpace(k.Subject)
		if k.Subject == "" || len(k.Subject) > maxSubject {
			return fault.Invalidf("subject", "the subject must have 1 to %d bytes", maxSubject)
		}
		issuer, known := l.Issuers[k.Provider]
		if !known {
			return fault.Invalidf("provider", "there is no provider %q in the configuration; known: %s", k.Provider,
				strings.Join(slices.Sorted(maps.Keys(l.Issuers)), ", "))
		}
		k.Issuer = issuer
	}
	return l.Link(ctx, by, links...)
}
