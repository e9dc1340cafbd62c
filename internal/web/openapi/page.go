package openapi

import (
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// page is the data of the page: the operations by subject.
type page struct {
	Version, Icon string
	Styles        []string
	Sections      []section
	Schemas       []pageSchema
}

type section struct {
	Name, ID, About string
	Operations      []pageOperation
}

type pageOperation struct {
	Method, Path, ID, Summary, Note, Access, Body string
	Query                                         []pageParameter
	Answers                                       []pageAnswer
	Errors                                        string
}

type pageParameter struct{ Name, About string }

type pageAnswer struct {
	Status int
	Text   string
	Body   string
}

type pageSchema struct {
	Name, ID, About string
	Fields          []pageField
}

type pageField struct{ Name, Type, About string }

// who has the text of each access rule.
var who = map[string]string{
	"public": "everybody", "open": "any application or session; everybody where anonymous reads are opened",
	"any": "any application or session", "write": "any application, and sessions that may change things",
	"self": "the person, an administrator, or an application that may speak for people", "user": "a named person",
	"own": "an owner of the application, or an administrator", "admin": "administrators",
	"team-admin": "administrators of the team, of Iris, and applications that may use the on-call API",
	"member":     "members of the team, administrators of Iris, and applications that may use the on-call API",
	"app":        "applications", "webhook": "whoever has the application's key", "token": "whoever has a token of the integration", "vendor": "the vendor, by its signature",
	"session": "people who are logged in",
}

func newPage(s spec, version string, asset func(string) string) page {
	p := page{Version: version, Styles: []string{asset("console.css")}, Icon: asset("icon.svg")}
	at := map[string]int{}
	for i, t := range s.Tags {
		at[t.Name] = i
		p.Sections = append(p.Sections, section{Name: t.Name, ID: strings.ReplaceAll(t.Name, " ", "-"),
			About: t.Description})
	}
	for _, route := range slices.Sorted(maps.Keys(s.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if op, ok := s.Paths[route][method]; ok {
				to := &p.Sections[at[op.Tag]]
				to.Operations = append(to.Operations, s.pageOperation(method, route, op))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Schemas)) {
		p.Schemas = append(p.Schemas, newPageSchema(name, s.Schemas[name]))
	}
	return p
}

func (s spec) pageOperation(method, path string, op operation) pageOperation {
	out := pageOperation{
		Method: strings.ToUpper(method), Path: path, ID: operationID(method, path), Summary: op.Summary,
		Note: strings.TrimSpace(op.Note), Access: who[op.Access], Body: op.Body,
	}
	for _, q := range op.Query {
		p := s.Parameters[q]
		out.Query = append(out.Query, pageParameter{Name: fmt.Sprint(p["name"]), About: about(p)})
	}
	if op.Rule != "" {
		out.Access += "; " + op.Rule
	}
	oks := op.OK
	if len(oks) == 0 {
		oks = map[int]string{http.StatusOK: "empty"}
	}
	for _, status := range slices.Sorted(maps.Keys(oks)) {
		out.Answers = append(out.Answers, pageAnswer{Status: status, Text: http.StatusText(status), Body: oks[status]})
	}
	refused := s.refusals(method, path, op)
	slices.Sort(refused)
	var statuses []string
	for _, status := range slices.Compact(refused) {
		statuses = append(statuses, fmt.Sprint(status))
	}
	out.Errors = strings.Join(statuses, ", ")
	return out
}

func about(written map[string]any) string {
	text, _ := written["description"].(string)
	return text
}

func newPageSchema(name string, written map[string]any) pageSchema {
	out := pageSchema{Name: name, ID: "schema-" + name, About: about(written)}
	fields, _ := written["fields"].(map[string]any)
	properties, _ := written["properties"].(map[string]any)
	required, _ := written["required"].([]any)
	for _, key := range sorted(properties) {
		v, _ := properties[key].(map[string]any)
		f := pageField{Name: key, About: about(v), Type: typeOf(v)}
		if !slices.Contains(required, any(key)) {
			f.Type += ", may be missing"
		}
		out.Fields = append(out.Fields, f)
	}
	for _, key := range sorted(fields) {
		f := pageField{Name: strings.TrimSuffix(key, "?")}
		switch v := fields[key].(type) {
		case string:
			f.Type = v
		case map[string]any:
			f.About = about(v)
			f.Type = "object"
			for _, from := range []string{"schema", "type"} {
				if t, ok := v[from].(string); ok {
					f.Type = t
				}
			}
		}
		if strings.HasSuffix(key, "?") {
			f.Type += ", may be missing"
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

// typeOf returns the type of a JSON Schema in short form.
func typeOf(schema map[string]any) string {
	if ref, ok := schema["$ref"].(string); ok {
		return path.Base(ref)
	}
	switch kind := schema["type"].(type) {
	case []any:
		var kinds []string
		for _, k := range kind {
			kinds = append(kinds, fmt.Sprint(k))
		}
		return strings.Join(kinds, "|")
	case string:
		if items, ok := schema["items"].(map[string]any); ok {
			return "[" + typeOf(items) + "]"
		}
		return kind
	}
	return "any"
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
