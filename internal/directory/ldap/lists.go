package ldap

import (
	"context"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/fault"
)

// Lists lists the mailing lists, with the members of lists inside them. See directory.Lists.
func (c *Client) Lists(ctx context.Context) ([]directory.List, error) {
	l := c.cfg.Lists
	found, err := c.search(ctx, l.BaseDN, l.Filter, []string{l.Name, l.Member})
	if err != nil {
		return nil, err
	}
	groups := make(map[string][]string, len(found)) // folded name of the entry -> members
	for _, e := range found {
		members, err := c.members(e)
		if err != nil {
			return nil, err
		}
		groups[strings.ToLower(e.DN)] = members
	}
	out := make([]directory.List, len(found))
	for i, e := range found {
		out[i] = directory.List{Name: strings.TrimSpace(e.GetEqualFoldAttributeValue(l.Name)), Members: unroll(groups, e.DN)}
		out[i].Size = len(out[i].Members)
	}
	return out, nil
}

// members returns who is named. Active Directory answers a part only of very large groups, under another name: half a list
// is not to be believed.
func (c *Client) members(e *ldap.Entry) ([]string, error) {
	for _, a := range e.Attributes {
		name, option, _ := strings.Cut(a.Name, ";")
		if strings.EqualFold(name, c.cfg.Lists.Member) && strings.HasPrefix(strings.ToLower(option), "range=") {
			return nil, fault.New(fault.Internal, "the directory answers a part of a list only (Active Directory beyond 1500 members): leave it out with sync.lists.filter")
		}
	}
	return e.GetEqualFoldAttributeValues(c.cfg.Lists.Member), nil
}

// unroll returns everybody on a list and on the lists inside it, each once, whatever circles they form.
func unroll(groups map[string][]string, start string) []string {
	var out []string
	seen := map[string]bool{strings.ToLower(start): true}
	todo := []string{start}
	for len(todo) > 0 {
		group := strings.ToLower(todo[0])
		todo = todo[1:]
		for _, member := range groups[group] {
			key := strings.ToLower(member)
			if seen[key] {
				continue
			}
			seen[key] = true
			if _, inner := groups[key]; inner {
				todo = append(todo, member)
			} else {
				out = append(out, member)
			}
		}
	}
	return out
}
