package scim

import (
	"maps"
	"slices"
	"strings"

	filter "github.com/scim2/filter-parser/v2"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Operation is one operation of a PATCH (RFC 7644, section 3.5.2).
type Operation struct {
	Op    string
	Path  string // "" = Value is an object of attributes
	Value any
}

// Refusals of PATCH, by the scimType that the edge answers.
const (
	ErrPath     = "path"
	ErrNoTarget = "target"
)

func badPath(path string) error {
	return &fault.Error{Kind: fault.Invalid, Field: ErrPath, Message: "the path cannot be used: " +
		path[:min(len(path), 100)]}
}

// Patch returns the document after the operations. It accepts the shapes of RFC 7644 and those that Okta and Entra ID
// send. Attributes that Iris does not keep are ignored.
func (k Kind) Patch(d Document, operations []Operation) (Document, error) {
	d = clone(d)
	for _, o := range operations {
		op := strings.ToLower(o.Op)
		if op != "add" && op != "remove" && op != "replace" {
			return nil, invalid("op", "op must be add, remove or replace")
		}
		if o.Path != "" {
			if err := k.at(d, op, o.Path, o.Value); err != nil {
				return nil, err
			}
			continue
		}
		values, ok := o.Value.(map[string]any)
		if !ok || op == "remove" {
			return nil, &fault.Error{Kind: fault.Invalid, Field: ErrNoTarget,
				Message: "an operation without a path needs an object of attributes, and cannot remove"}
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if err := k.at(d, op, name, values[name]); err != nil {
				return nil, err
			}
		}
	}
	return d, k.check(d)
}

// clone copies a document so deeply that Patch changes no value of the original.
func clone(d Document) Document {
	out := maps.Clone(d)
	for name, v := range out {
		switch v := v.(type) {
		case map[string]any:
			out[name] = maps.Clone(v)
		case []any:
			values := slices.Clone(v)
			for i, one := range values {
				if m, ok := one.(map[string]any); ok {
					values[i] = maps.Clone(m)
				}
			}
			out[name] = values
		}
	}
	return out
}

// parsePath calls the parser, whose panics on odd input become errors.
func parsePath(path string) (p filter.Path, err error) {
	defer func() {
		if recover() != nil {
			err = badPath(path)
		}
	}()
	if p, err = filter.ParsePath([]byte(path)); err != nil {
		err = badPath(path)
	}
	return p, err
}

// at carries out an operation on the attribute of a path.
func (k Kind) at(d Document, op, path string, value any) error {
	if strings.EqualFold(path, EnterpriseSchema) {
		return k.open(d, op, "", value)
	}
	if len(path) > maxExpression {
		return badPath(path)
	}
	p, err := parsePath(path)
	if err != nil {
		return err
	}
	if strings.EqualFold(strings.TrimSuffix(p.AttributePath.URI(), ":"), EnterpriseSchema) {
		return k.open(d, op, p.AttributePath.AttributeName, value)
	}
	a, known := k.attributes[strings.ToLower(p.AttributePath.AttributeName)]
	if !known || value == nil && op != "remove" {
		return nil
	}
	sub := p.AttributePath.SubAttributeName()
	if sub == "" && p.SubAttribute != nil {
		sub = *p.SubAttribute
	}
	if sub != "" {
		canonical, has := a.sub[strings.ToLower(sub)]
		if !has {
			return nil
		}
		sub = canonical
	}
	switch {
	case a.form == list:
		return a.patchList(d, op, p.ValueExpression, sub, value)
	case p.ValueExpression != nil:
		return badPath(path)
	case a.form == object:
		return a.patchObject(d, op, sub, value)
	case op == "remove":
		delete(d, a.name)
		return nil
	}
	d[a.name], err = a.read(value)
	return err
}

// open changes the extension. Its members are kept as they are, and "" stands for all.
func (k Kind) open(d Document, op, name string, value any) error {
	a, known := k.attributes[strings.ToLower(EnterpriseSchema)]
	if !known || value == nil && op != "remove" {
		return nil
	}
	members, _ := d[a.name].(map[string]any)
	members = maps.Clone(members)
	if members == nil {
		members = map[string]any{}
	}
	given, isObject := value.(map[string]any)
	switch {
	case op == "remove" && name == "":
		delete(d, a.name)
		return nil
	case op == "remove":
		delete(members, name)
	case name != "":
		members[name] = value
	case isObject:
		maps.Copy(members, given)
	default:
		return invalid(a.name, "%s must be an object", a.name)
	}
	v, err := a.read(members)
	d[a.name] = v
	return err
}

func (a attribute) patchObject(d Document, op, sub string, value any) error {
	members, _ := d[a.name].(map[string]any)
	if members == nil {
		members = map[string]any{}
	}
	switch {
	case op == "remove" && sub == "":
		delete(d, a.name)
		return nil
	case op == "remove":
		delete(members, sub)
	default:
		if sub != "" {
			value = map[string]any{sub: value}
		}
		given, err := a.object(value)
		if err != nil {
			return err
		}
		maps.Copy(members, given)
	}
	d[a.name] = members
	return nil
}

// patchList changes an attribute with several values. where selects some of them; nil = all.
func (a attribute) patchList(d Document, op string, where filter.Expression, sub string, value any) error {
	values, _ := d[a.name].([]any)
	var err error
	switch {
	case where != nil:
		values, err = a.patchSome(values, op, where, sub, value)
	case sub != "":
		return badPath(a.name + "." + sub)
	case op == "remove" && value == nil:
		values = nil
	default:
		var given []any
		if given, err = a.list(value); err != nil {
			return err
		}
		values = combine(values, op, given)
	}
	d[a.name] = values
	return err
}

// combine adds values to others, removes them, or replaces the others. Values are the same if their attribute "value"
// is.
func combine(values []any, op string, given []any) []any {
	if op == "replace" {
		values = nil
	}
	has := map[any]bool{}
	for _, v := range values {
		has[valueOf(v)] = true
	}
	if op == "remove" {
		gone := map[any]bool{}
		for _, v := range given {
			gone[valueOf(v)] = true
		}
		return slices.DeleteFunc(values, func(v any) bool { return gone[valueOf(v)] })
	}
	for _, v := range given {
		if !has[valueOf(v)] {
			has[valueOf(v)] = true
			values = append(values, v)
		}
	}
	return values
}

func valueOf(v any) any {
	m, _ := v.(map[string]any)
	return m["value"]
}

// patchSome changes the values that match a comparison.
func (a attribute) patchSome(values []any, op string, where filter.Expression, sub string, value any) ([]any, error) {
	e, ok := where.(*filter.AttributeExpression)
	if !ok || e.Operator != filter.EQ {
		return nil, badPath(a.name)
	}
	by, known := a.sub[strings.ToLower(e.AttributePath.AttributeName)]
	if !known {
		return nil, badPath(a.name)
	}
	matches := func(v any) bool {
		m, _ := v.(map[string]any)
		s, isText := m[by].(string)
		wanted, _ := e.CompareValue.(string)
		return m[by] == e.CompareValue || isText && by == "type" && strings.EqualFold(s, wanted)
	}
	if op == "remove" && sub == "" {
		return slices.DeleteFunc(values, matches), nil
	}
	if sub != "" {
		value = map[string]any{sub: value}
	}
	given := map[string]any{}
	if op != "remove" {
		var err error
		if given, err = a.object(value); err != nil {
			return nil, err
		}
	}
	found := false
	for _, v := range values {
		if m, _ := v.(map[string]any); matches(v) {
			found = true
			if op == "remove" {
				delete(m, sub)
			}
			maps.Copy(m, given)
		}
	}
	switch {
	case found || op == "remove":
	case op == "add":
		selected, err := a.object(map[string]any{by: e.CompareValue})
		if err != nil {
			return nil, err
		}
		maps.Copy(selected, given)
		values = append(values, selected)
	default:
		return nil, &fault.Error{Kind: fault.Invalid, Field: ErrNoTarget, Message: "no value of " + a.name +
			" matches the path"}
	}
	return slices.DeleteFunc(values, func(v any) bool { return valueOf(v) == nil || valueOf(v) == "" }), nil
}
