package scimapi

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// resources serves the people or the groups of a connection.
type resources struct {
	api     *API
	kind    scim.Kind
	patched int // the status of a PATCH
	list    func(ctx context.Context, c scim.Connection, f scim.Filter, w scim.Window) (scim.List, error)
	create  func(ctx context.Context, c scim.Connection, d scim.Document, p scim.Policy) (scim.Resource, error)
	save    func(ctx context.Context, c scim.Connection, r scim.Resource, p scim.Policy) (scim.Resource, error)
	remove  func(ctx context.Context, c scim.Connection, id string, p scim.Policy) error
}

// Limits of lists.
const (
	usualCount = 100
	maxCount   = 1000
)

// search answers a list. The page is 1-based.
func (s resources) search(c call) (answer, error) {
	q := c.URL.Query()
	f, err := s.kind.ReadFilter(q.Get("filter"))
	if err != nil {
		return answer{}, err
	}
	w := scim.Window{Start: 1, Count: usualCount, WithoutMembers: s.withoutMembers(c)}
	for name, n := range map[string]*int{"startIndex": &w.Start, "count": &w.Count} {
		if text := q.Get(name); text != "" {
			if *n, err = strconv.Atoi(text); err != nil {
				return answer{}, fault.Invalidf(name, "%s must be a whole number", name)
			}
		}
	}
	w.Start, w.Count = min(max(w.Start, 1), 1_000_000_000), min(max(w.Count, 0), maxCount)
	found, err := s.list(c.Context(), c.connection, f, w)
	if err != nil {
		return answer{}, err
	}
	items := make([]any, 0, len(found.Resources))
	for _, r := range found.Resources {
		items = append(items, s.show(c, r))
	}
	return answer{status: http.StatusOK, content: listOf(items, found.Total, w.Start)}, nil
}

func listOf(items []any, total, start int) map[string]any {
	return map[string]any{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:ListResponse"},
		"totalResults": total, "startIndex": start,
		"itemsPerPage": len(items), "Resources": items}
}

func (s resources) post(c call) (answer, error) {
	raw, err := c.object()
	if err != nil {
		return answer{}, err
	}
	d, err := s.kind.Read(raw)
	if err != nil {
		return answer{}, err
	}
	made, err := s.create(c.Context(), c.connection, d, c.policy)
	if err != nil {
		return answer{}, err
	}
	return s.answer(c, http.StatusCreated, made), nil
}

func (s resources) get(c call) (answer, error) {
	r, err := s.find(c)
	if err != nil {
		return answer{}, err
	}
	return s.answer(c, http.StatusOK, r), nil
}

// find returns the resource of the path.
func (s resources) find(c call) (scim.Resource, error) {
	found, err := s.list(c.Context(), c.connection, scim.Filter{scim.ByID: wire.Param(c.Request, "id")},
		scim.Window{Start: 1, Count: 1, WithoutMembers: s.withoutMembers(c)})
	if err == nil && len(found.Resources) == 0 {
		err = fault.Newf(fault.NotFound, "there is no such %s", s.kind.Name)
	}
	if err != nil {
		return scim.Resource{}, err
	}
	return found.Resources[0], nil
}

// tries is how often a change is computed again because another one was faster.
const tries = 10

// edit replaces the document of the resource of the path. If another change is faster, it starts again, unless the
// request names a version.
func (s resources) edit(c call, change func(scim.Document) (scim.Document, error)) (scim.Resource, error) {
	for try := 1; ; try++ {
		r, err := s.find(c)
		if err != nil {
			return r, err
		}
		if err := c.matches(r); err != nil {
			return r, err
		}
		if r.Document, err = change(r.Document); err != nil {
			return r, err
		}
		saved, err := s.save(c.Context(), c.connection, r, c.policy)
		if fault.Is(err, fault.Stale) && try < tries {
			continue
		}
		return saved, err
	}
}

// matches returns a Stale fault if the request names another version of the resource.
func (c call) matches(r scim.Resource) error {
	if wanted := c.Header.Get("If-Match"); wanted != "" && wanted != "*" && wanted != tag(r) {
		return fault.New(fault.Stale, "the resource has changed: read it again")
	}
	return nil
}

func (s resources) put(c call) (answer, error) {
	raw, err := c.object()
	if err != nil {
		return answer{}, err
	}
	d, err := s.kind.Read(raw)
	if err != nil {
		return answer{}, err
	}
	saved, err := s.edit(c, func(scim.Document) (scim.Document, error) { return d, nil })
	if err != nil {
		return answer{}, err
	}
	return s.answer(c, http.StatusOK, saved), nil
}

func (s resources) patch(c call) (answer, error) {
	raw, err := c.object()
	if err != nil {
		return answer{}, err
	}
	operations, err := readOperations(raw)
	if err != nil {
		return answer{}, err
	}
	saved, err := s.edit(c, func(d scim.Document) (scim.Document, error) { return s.kind.Patch(d, operations) })
	if err != nil {
		return answer{}, err
	}
	out := s.answer(c, s.patched, saved)
	if s.patched == http.StatusNoContent {
		out.content = nil
	}
	return out, nil
}

// maxOperations is how many operations a PATCH may have.
const maxOperations = 1000

func readOperations(raw map[string]any) ([]scim.Operation, error) {
	var given []any
	for name, v := range raw {
		if strings.EqualFold(name, "operations") {
			given, _ = v.([]any)
		}
	}
	if len(given) == 0 || len(given) > maxOperations {
		return nil, fault.Invalidf("Operations", "Operations must be a list of 1 to %d operations", maxOperations)
	}
	out := make([]scim.Operation, 0, len(given))
	for _, v := range given {
		m, _ := v.(map[string]any)
		var o scim.Operation
		for name, v := range m {
			switch strings.ToLower(name) {
			case "op":
				o.Op, _ = v.(string)
			case "path":
				o.Path, _ = v.(string)
			case "value":
				o.Value = v
			}
		}
		out = append(out, o)
	}
	return out, nil
}

func (s resources) delete(c call) (answer, error) {
	r, err := s.find(c)
	if err == nil {
		err = c.matches(r)
	}
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, s.remove(c.Context(), c.connection, wire.Param(c.Request, "id"),
		c.policy)
}

func (s resources) answer(c call, status int, r scim.Resource) answer {
	return answer{status: status, content: s.show(c, r), location: s.location(r), tag: tag(r)}
}

func tag(r scim.Resource) string { return fmt.Sprintf(`W/"%d"`, r.Version) }

func (s resources) location(r scim.Resource) string {
	return s.api.PublicURL + "/scim/v2/" + s.kind.Name + "s/" + r.ID
}

// show returns a resource on the wire, with the attributes that the request asks for.
func (s resources) show(c call, r scim.Resource) map[string]any {
	schemas := []string{s.kind.Schema}
	out := maps.Clone(map[string]any(r.Document))
	if out[scim.EnterpriseSchema] != nil {
		schemas = append(schemas, scim.EnterpriseSchema)
	}
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	out["schemas"], out["id"] = schemas, r.ID
	out["meta"] = map[string]any{"resourceType": s.kind.Name, "created": stamp(r.CreatedAt),
		"lastModified": stamp(r.UpdatedAt), "location": s.location(r), "version": tag(r)}
	if wanted := attributes(c, "attributes"); len(wanted) > 0 {
		maps.DeleteFunc(out, func(name string, _ any) bool {
			return !always(name) &&
				!slices.Contains(wanted, strings.ToLower(name))
		})
	}
	hidden := attributes(c, "excludedAttributes")
	maps.DeleteFunc(out, func(name string, _ any) bool {
		return !always(name) &&
			slices.Contains(hidden, strings.ToLower(name))
	})
	return out
}

// always reports whether each answer has an attribute.
func always(name string) bool { return name == "schemas" || name == "id" }

// attributes returns the names of a parameter in lower case, without sub-attributes.
func attributes(c call, parameter string) []string {
	var out []string
	for _, name := range strings.Split(c.URL.Query().Get(parameter), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if !strings.HasPrefix(name, "urn:") {
			name, _, _ = strings.Cut(name, ".")
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// withoutMembers reports whether the answer to a read leaves out the members of groups.
func (s resources) withoutMembers(c call) bool {
	wanted := attributes(c, "attributes")
	return c.Method == http.MethodGet && (slices.Contains(attributes(c, "excludedAttributes"), "members") ||
		len(wanted) > 0 && !slices.Contains(wanted, "members"))
}
