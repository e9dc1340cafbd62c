package openapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Typed describes operations whose inputs and outputs are types of Go.
type Typed struct {
	Operations []Operation
	Schemas    map[string]map[string]any // JSON Schema by name
}

// And returns the description of the operations of both. It returns an error if two types share a name.
func (t Typed) And(more Typed) (Typed, error) {
	out := Typed{append(t.Operations, more.Operations...), maps.Clone(t.Schemas)}
	for _, name := range slices.Sorted(maps.Keys(more.Schemas)) {
		if known, taken := out.Schemas[name]; taken && !reflect.DeepEqual(known, more.Schemas[name]) {
			return out, fmt.Errorf("two types have the name %s in the description of /v1: rename one", name)
		}
		out.Schemas[name] = more.Schemas[name]
	}
	return out, nil
}

// Operation describes an operation. Its tag is resources.
type Operation struct {
	Name                        string // such as "silence.create"
	Method, Path, Summary, Note string // the method in lower case
	Access                      string // a key of accesses
	Rule                        string // for whom of these callers; "" = for all
	Audit                       []string
	Query                       []Parameter
	Body                        string         // a name of Schemas; "" = none
	Answer                      map[int]string // a name of Schemas, or empty, by status
	Errors                      []int
}

// Parameter is a parameter of a query.
type Parameter struct {
	Name, About string
	Schema      map[string]any
}

// add adds typed operations to those of the files.
func (s spec) add(t Typed) error {
	const where = "the typed operations"
	if err := merge(where, s.Schemas, t.Schemas); err != nil {
		return err
	}
	for _, o := range t.Operations {
		op := operation{Name: o.Name, Tag: "resources", Summary: o.Summary, Note: o.Note, Access: o.Access,
			Rule: o.Rule, Audit: o.Audit, Body: o.Body, OK: o.Answer, Errors: o.Errors}
		for _, p := range o.Query {
			key := o.Method + " " + o.Path + " " + p.Name
			s.Parameters[key] = map[string]any{"name": p.Name, "in": "query", "description": p.About,
				"schema": p.Schema}
			op.Query = append(op.Query, key)
		}
		if s.Paths[o.Path] == nil {
			s.Paths[o.Path] = map[string]operation{}
		}
		if _, ok := s.Paths[o.Path][o.Method]; ok {
			return fmt.Errorf("%s %s is described twice", o.Method, o.Path)
		}
		s.Paths[o.Path][o.Method] = op
	}
	return nil
}
