package mount

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/openapi"
)

// Describe returns the description of the operations for the OpenAPI document.
func (a *API) Describe() (d openapi.Typed, err error) {
	raw, err := json.Marshal(a.schemas())
	if err == nil {
		err = json.Unmarshal(raw, &d.Schemas)
	}
	if err != nil {
		return d, fmt.Errorf("describe the types of operations: %w", err)
	}
	for _, doc := range a.docs {
		op := openapi.Operation{Name: doc.Name, Method: strings.ToLower(doc.Method), Path: doc.Path,
			Summary: doc.Summary, Note: doc.Note,
			Access: accesses[doc.Needs], Rule: string(doc.Rule), Errors: doc.Errors, Answer: map[int]string{doc.Status: "empty"}}
		if a.opened(doc) {
			op.Access = "open"
		}
		for _, action := range doc.Audit {
			op.Audit = append(op.Audit, string(action))
		}
		item := a.huma.OpenAPI().Paths[doc.Path]
		known := map[string]*huma.Operation{"get": item.Get, "post": item.Post, "put": item.Put, "patch": item.Patch,
			"delete": item.Delete}[op.Method]
		for _, p := range known.Parameters {
			if p.In == "query" {
				op.Query = append(op.Query, openapi.Parameter{Name: p.Name, About: p.Description,
					Schema: schema(p.Schema)})
			}
		}
		if known.RequestBody != nil {
			op.Body = name(known.RequestBody.Content)
			if known.RequestBody.Content["text/calendar"] != nil {
				op.Body = "calendar"
			} else if !known.RequestBody.Required {
				op.Body = "?" + op.Body
			}
		}
		if r := known.Responses[fmt.Sprint(doc.Status)]; r != nil && len(r.Content) > 0 {
			op.Answer[doc.Status] = name(r.Content)
		}
		if lines, _ := known.Metadata["lines"].(bool); lines {
			op.Answer[doc.Status] = "jsonl"
		}
		if makes, _ := known.Metadata["makes"].(bool); makes {
			op.Answer[http.StatusCreated] = op.Answer[doc.Status]
		}
		d.Operations = append(d.Operations, op)
	}
	return d, nil
}

// accesses has the access rule of each role.
var accesses = map[operation.Role]string{operation.Nobody: "public", operation.Reader: "any", operation.Member: "user",
	operation.Admin: "admin"}

// name returns the name of the schema of a body.
func name(content map[string]*huma.MediaType) string {
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		return strings.TrimPrefix(content[kind].Schema.Ref, "#/components/schemas/")
	}
	return ""
}

// schema returns a schema as the OpenAPI document has it.
func schema(s *huma.Schema) (out map[string]any) {
	raw, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(err) // a schema is JSON
	}
	return out
}
