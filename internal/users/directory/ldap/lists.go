package ldap

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users/directory"
)

// Lists lists all mailing lists, with the members of lists inside them. See directory.Lists.
func (c *Client) Lists(ctx context.Context) ([]directory.List, error) {
	l := c.cfg.Lists
	found, err := c.search(ctx, l.BaseDN, l.Filter, []string{l.Name, l.Member})
	if err != nil {
		return nil, err
	}
	groups := make(map[string][]string, len(found)) // lower-case DN of the list -> DNs of members
	for _, e := range found {
		members, err := c.members(ctx, e)
		if err != nil {
			return nil, err
		}
		groups[strings.ToLower(e.DN)] = members
	}
	out := make([]directory.List, len(found))
	for i, e := range found {
		out[i] = directory.List{Name: strings.TrimSpace(e.GetEqualFoldAttributeValue(l.Name)),
			Members: allMembers(groups, e.DN)}
		out[i].Size = len(out[i].Members)
	}
	return out, nil
}

// members returns the members of a list. For a large list, Active Directory returns parts under another name
// (member;range=0-1499). members requests parts until the last one.
func (c *Client) members(ctx context.Context, e *ldap.Entry) ([]string, error) {
	all := e.GetEqualFoldAttributeValues(c.cfg.Lists.Member)
	for from := 0; ; {
		part, last, ranged := c.part(e)
		if !ranged {
			return all, nil
		}
		all = append(all, part...)
		if last < 0 {
			return all, nil
		}
		if last < from {
			return nil, fault.New(fault.Unavailable, "the directory returned a part of a list twice")
		}
		from = last + 1
		var err error
		if e, err = c.more(ctx, e.DN, from); err != nil {
			return nil, err
		}
	}
}

// part returns the values of a part and the number of its last value; -1 = this is the last part.
func (c *Client) part(e *ldap.Entry) (values []string, last int, ranged bool) {
	for _, a := range e.Attributes {
		name, option, _ := strings.Cut(a.Name, ";")
		bounds, ok := strings.CutPrefix(strings.ToLower(option), "range=")
		if !ok || !strings.EqualFold(name, c.cfg.Lists.Member) {
			continue
		}
		_, end, _ := strings.Cut(bounds, "-")
		last, err := strconv.Atoi(end)
		if err != nil || last < 0 || len(a.Values) == 0 { // "*": the last part
			last = -1
		}
		return a.Values, last, true
	}
	return nil, -1, false
}

// more requests the members from a number on.
func (c *Client) more(ctx context.Context, dn string, from int) (*ldap.Entry, error) {
	request := ldap.NewSearchRequest(dn, ldap.ScopeBaseObject, ldap.NeverDerefAliases, 0, 0, false, "(objectClass=*)",
		[]string{fmt.Sprintf("%s;range=%d-*", c.cfg.Lists.Member, from)}, nil)
	found, err := c.request(ctx, func(conn *ldap.Conn) (*ldap.SearchResult, error) { return conn.Search(request) })
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fault.New(fault.Unavailable, "a list disappeared while it was read")
	}
	return found[0], nil
}

// allMembers returns the people on a list and on the lists inside it, each once. Lists may contain each other.
func allMembers(groups map[string][]string, start string) []string {
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
