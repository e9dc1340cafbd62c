package users

import (
	"context"
	"fmt"
	"strings"
)

// Searcher searches accounts.
type Searcher interface {
	Page(ctx context.Context, by AccountQuery) ([]Account, error)
}

const (
	maxSearched = 100 // accounts among which a full name must be unique
	maxProposed = 5   // people that a refusal lists
)

// ByFullName finds the active person with a full name, ignoring case. If nobody or several people have it, found is
// false, and reason says who has a similar name; "" = nobody. Look for the log-in name first.
func ByFullName(ctx context.Context, s Searcher, typed string) (u User, found bool, reason string, err error) {
	typed = strings.Join(strings.Fields(typed), " ")
	if typed == "" {
		return User{}, false, "", nil
	}
	similar, err := s.Page(ctx, AccountQuery{Active: true, Keyword: typed, Most: maxSearched})
	if err != nil || len(similar) == 0 {
		return User{}, false, "", err
	}
	var same []Account
	for _, a := range similar {
		if strings.EqualFold(strings.TrimSpace(a.FullName), typed) {
			same = append(same, a)
		}
	}
	switch {
	case len(same) == 1 && len(similar) < maxSearched: // otherwise a person who was not read may have the same name
		return same[0].User, true, "", nil
	case len(same) > 1:
		return User{}, false, fmt.Sprintf("several people are called %.100q: choose %s", typed, proposed(same)), nil
	}
	return User{}, false, fmt.Sprintf("nobody is called %.100q: did you mean %s?", typed, proposed(similar)), nil
}

// proposed lists the log-in names of the first people with their full names.
func proposed(all []Account) string {
	var names []string
	for _, a := range all[:min(len(all), maxProposed)] {
		name := a.Name
		if a.FullName != "" {
			name += " (" + a.FullName + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
