package scim

import (
	"fmt"
	"regexp"
	"strings"

	filter "github.com/scim2/filter-parser/v2"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Filter holds the conditions of a list, all of which must hold: the value of each attribute. The zero value has no
// condition.
type Filter map[Attribute]string

// Attribute is the name of an attribute in a filter, in lower case.
type Attribute string

// The attributes that filters may compare, with the operator eq. Others are refused.
const (
	ByID         Attribute = "id"
	ByUserName   Attribute = "username"
	ByExternalID Attribute = "externalid"
	ByEmail      Attribute = "emails.value"
	ByName       Attribute = "displayname"
	ByManager    Attribute = "manager"
	ByMember     Attribute = "members.value"
)

// filters are the attributes of each kind.
var filters = map[string][]Attribute{
	User.Name:  {ByID, ByUserName, ByExternalID, ByEmail, ByManager},
	Group.Name: {ByID, ByName, ByExternalID, ByMember},
}

// ErrFilter is the kind of refusals of filters; the edge names it invalidFilter.
const ErrFilter = "filter"

func badFilter(format string, args ...any) error {
	f := fault.Newf(fault.Invalid, format, args...)
	f.Field = ErrFilter
	return f
}

// unquoted is a comparison whose value has no quotation marks; some documentation of directories shows it so.
var unquoted = regexp.MustCompile(`^\s*(\w+)\s+(?i:eq)\s+([^"\s()]+)\s*$`)

// selected is an attribute of some of several values, emails[type eq "work"].value. Iris compares all values. The first
// alternative takes quoted texts, so that they stay as they are.
var selected = regexp.MustCompile(`("(?:[^"\\]|\\.)*")|(\w+)\[[^\[\]]*\](\.\w+)`)

// ReadFilter reads the filter of a list of the kind; "" = none.
func (k Kind) ReadFilter(text string) (Filter, error) {
	if strings.TrimSpace(text) == "" {
		return Filter{}, nil
	}
	if len(text) > maxExpression {
		return nil, badFilter("the filter must have at most %d bytes", maxExpression)
	}
	if m := unquoted.FindStringSubmatch(text); m != nil && m[2] != "true" && m[2] != "false" && m[2] != "null" {
		text = fmt.Sprintf("%s eq %q", m[1], m[2])
	}
	expression, err := parse(selected.ReplaceAllString(text, "$1$2$3"))
	if err != nil {
		return nil, badFilter("the filter cannot be read")
	}
	out := Filter{}
	if err = k.conditions(expression, "", out); err == nil && len(out) == 0 {
		err = badFilter("the filter must compare more than a type")
	}
	return out, err
}

// maxExpression is the longest filter or path in bytes.
const maxExpression = 1000

// parse calls the parser, whose panics on odd input become errors.
func parse(text string) (e filter.Expression, err error) {
	defer func() {
		if recover() != nil {
			err = badFilter("the filter cannot be read")
		}
	}()
	return filter.ParseFilter([]byte(text))
}

func (k Kind) conditions(e filter.Expression, within string, out Filter) error {
	switch e := e.(type) {
	case *filter.LogicalExpression:
		if e.Operator != filter.AND {
			return badFilter("only and is supported in filters")
		}
		if err := k.conditions(e.Left, within, out); err != nil {
			return err
		}
		return k.conditions(e.Right, within, out)
	case *filter.ValuePath:
		return k.conditions(e.ValueFilter, strings.ToLower(e.AttributePath.AttributeName)+".", out)
	case *filter.AttributeExpression:
		return k.condition(e, within, out)
	}
	return badFilter("only eq and and are supported in filters")
}

func (k Kind) condition(e *filter.AttributeExpression, within string, out Filter) error {
	name := within + strings.ToLower(e.AttributePath.AttributeName)
	if sub := e.AttributePath.SubAttribute; sub != nil && name != string(ByManager) {
		name += "." + strings.ToLower(*sub)
	}
	value, isText := e.CompareValue.(string)
	if e.Operator != filter.EQ || !isText {
		return badFilter("only eq with a text is supported in filters")
	}
	if name == "emails.type" {
		return nil // Iris compares all addresses
	}
	for _, a := range filters[k.Name] {
		if name == string(a) {
			if _, twice := out[a]; twice {
				return badFilter("the filter names %s twice", name)
			}
			out[a] = value
			return nil
		}
	}
	return badFilter("filters by %.60q are not supported", name)
}
