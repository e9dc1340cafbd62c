package openapi

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed spec/*.yaml
var files embed.FS

// spec is the content of one spec file.
type spec struct {
	Tags       []tag                           `yaml:"tags"`
	Schemas    map[string]map[string]any       `yaml:"schemas"`
	Parameters map[string]map[string]any       `yaml:"parameters"`
	Paths      map[string]map[string]operation `yaml:"paths"`
}

type tag struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
}

// operation is one operation of a spec file. The package comment describes its keys.
type operation struct {
	Tag     string         `yaml:"tag"`
	Summary string         `yaml:"sum"`
	Note    string         `yaml:"note"`
	Access  string         `yaml:"access"`
	Name    string         `yaml:"-"` // of the operation, such as "silence.create"; "" = it is none
	Rule    string         `yaml:"-"` // for whom of these callers
	Audit   []string       `yaml:"-"` // the entries of the audit log that it may write
	Query   []string       `yaml:"query"`
	Body    string         `yaml:"body"`
	OK      map[int]string `yaml:"ok"`
	Errors  []int          `yaml:"errors"`
	Failure string         `yaml:"failure"`
	// Deprecated operations still work. Their note names the newer form.
	Deprecated bool `yaml:"deprecated"`
}

type object = map[string]any

// read merges the spec files.
func read() (spec, error) {
	all := spec{Schemas: map[string]map[string]any{}, Parameters: map[string]map[string]any{},
		Paths: map[string]map[string]operation{}}
	names, err := fs.Glob(files, "spec/*.yaml")
	if err != nil {
		return all, fmt.Errorf("list the API's description: %w", err)
	}
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			return all, fmt.Errorf("read %s: %w", name, err)
		}
		dec := yaml.NewDecoder(strings.NewReader(string(raw)))
		dec.KnownFields(true)
		var s spec
		if err := dec.Decode(&s); err != nil {
			return all, fmt.Errorf("read %s: %w", name, err)
		}
		all.Tags = append(all.Tags, s.Tags...)
		if err := merge(name, all.Schemas, s.Schemas); err != nil {
			return all, err
		}
		if err := merge(name, all.Parameters, s.Parameters); err != nil {
			return all, err
		}
		if err := merge(name, all.Paths, s.Paths); err != nil {
			return all, err
		}
	}
	return all, nil
}

func merge[V any](file string, into, from map[string]V) error {
	for k, v := range from {
		if _, ok := into[k]; ok {
			return fmt.Errorf("%s: %s is described twice", file, k)
		}
		into[k] = v
	}
	return nil
}

// compile expands a spec to an OpenAPI 3.1 document.
func compile(s spec, version string) (object, error) {
	paths := object{}
	for path, operations := range s.Paths {
		item := object{}
		for method, op := range operations {
			if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				return nil, fmt.Errorf("%s: %s is not a method", path, method)
			}
			compiled, err := s.operation(method, path, op)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			item[method] = compiled
		}
		paths[path] = item
	}
	schemas := object{}
	for name, written := range s.Schemas {
		expanded, err := s.expand(written)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		schemas[name] = expanded
	}
	parameters := object{}
	for name, p := range s.Parameters {
		if strings.Contains(name, " ") { // of a typed operation
			continue
		}
		if !s.uses(name) {
			return nil, fmt.Errorf("parameter %s: no operation takes it", name)
		}
		expanded, err := s.expand(p)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		parameters[name] = expanded
	}
	tags := make([]any, len(s.Tags))
	for i, t := range s.Tags {
		tags[i] = object{"name": t.Name, "description": t.Description}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Iris", "version": version,
			"description": "Incident escalation, on-call scheduling and message delivery. Paths below /v0 keep the wire of Iris, paths below /api/v0 that of Oncall; everything newer answers errors as RFC 9457 says.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":    []any{object{"url": "/"}},
		"tags":       tags,
		"paths":      paths,
		"components": object{"schemas": schemas, "parameters": parameters, "securitySchemes": securitySchemes()},
	}, nil
}

// uses reports whether an operation takes the parameter in its query.
func (s spec) uses(parameter string) bool {
	for _, item := range s.Paths {
		for _, op := range item {
			if slices.Contains(op.Query, parameter) {
				return true
			}
		}
	}
	return false
}

func securitySchemes() object {
	return object{
		"application": object{
			"type": "apiKey", "in": "header", "name": "Authorization",
			"description": "`hmac APPLICATION:DIGEST`, where DIGEST is the URL-safe base64 of HMAC-SHA512 over `WINDOW METHOD PATH BODY` and WINDOW is the Unix time divided by 5. With X-IRIS-USERNAME, ` USERNAME` is appended to the text.",
		},
		"session": object{"type": "apiKey", "in": "cookie", "name": "iris-auth",
			"description": "The cookie that the log-in sets."},
		"personal": object{"type": "http", "scheme": "bearer",
			"description": "A personal token with the scope that the request needs."},
		"webhook": object{"type": "apiKey", "in": "query", "name": "key",
			"description": "The application's key, beside the parameter `application`."},
		"integration": object{"type": "http", "scheme": "bearer", "description": "A token of an integration."},
		"vendor": object{"type": "apiKey", "in": "header", "name": "X-Signature",
			"description": "The vendor's own signature: X-Twilio-Signature, or X-Slack-Signature with X-Slack-Request-Timestamp."},
	}
}

var inPath = regexp.MustCompile(`\{([a-z_]+)\}`)

func (s spec) operation(method, path string, op operation) (object, error) {
	security, ok := accesses[op.Access]
	switch {
	case op.Summary == "":
		return nil, fmt.Errorf("sum is missing")
	case !ok:
		return nil, fmt.Errorf("access %q is not known", op.Access)
	case !slices.ContainsFunc(s.Tags, func(t tag) bool { return t.Name == op.Tag }):
		return nil, fmt.Errorf("tag %q is not known", op.Tag)
	}
	out := object{
		"operationId": operationID(method, path), "summary": op.Summary, "tags": []any{op.Tag},
		"security": security, "x-iris-access": op.Access,
	}
	if op.Name != "" {
		out["x-iris-operation"] = op.Name
	}
	if op.Rule != "" {
		out["x-iris-rule"] = op.Rule
	}
	if len(op.Audit) > 0 {
		out["x-iris-audit"] = op.Audit
	}
	if op.Deprecated {
		out["deprecated"] = true
	}
	if note := strings.TrimSpace(op.Note); note != "" {
		out["description"] = note
	}
	parameters, err := s.parameters(path, op)
	if err != nil {
		return nil, err
	}
	if len(parameters) > 0 {
		out["parameters"] = parameters
	}
	if op.Body != "" {
		body, err := s.requestBody(op.Body)
		if err != nil {
			return nil, err
		}
		out["requestBody"] = body
	}
	if out["responses"], err = s.responses(method, path, op); err != nil {
		return nil, err
	}
	return out, nil
}

func operationID(method, path string) string {
	id := method
	for part := range strings.SplitSeq(path, "/") {
		part = strings.Trim(part, "{}")
		part = strings.NewReplacer("-", "_", ".", "_").Replace(part)
		if part != "" {
			id += "_" + part
		}
	}
	if len(path) > 1 && strings.HasSuffix(path, "/") {
		id += "_slash"
	}
	return id
}

func (s spec) parameters(path string, op operation) ([]any, error) {
	var out []any
	for _, m := range inPath.FindAllStringSubmatch(path, -1) {
		kind := object{"type": "string"}
		if m[1] == "id" || strings.HasSuffix(m[1], "_id") {
			kind = object{"type": "integer", "format": "int64"}
		}
		out = append(out, object{"name": m[1], "in": "path", "required": true, "schema": kind})
	}
	for _, name := range op.Query {
		if _, ok := s.Parameters[name]; !ok {
			return nil, fmt.Errorf("parameter %q is not described", name)
		}
		if strings.Contains(name, " ") { // of a typed operation
			out = append(out, s.Parameters[name])
			continue
		}
		out = append(out, object{"$ref": "#/components/parameters/" + name})
	}
	return out, nil
}

func (s spec) requestBody(short string) (object, error) {
	short, optional := strings.CutPrefix(short, "?")
	short, form := strings.CutPrefix(short, "form:")
	if kind, ok := bodies[short]; ok {
		return object{"required": !optional, "content": object{kind: object{"schema": object{"type": "string"}}}}, nil
	}
	kind := "application/json"
	if form {
		kind = "application/x-www-form-urlencoded"
	}
	schema, err := s.schema(short)
	if err != nil {
		return nil, err
	}
	return object{"required": !optional, "content": object{kind: object{"schema": schema}}}, nil
}

// bodies has the media types of bodies that are not JSON.
var bodies = map[string]string{"text": "text/plain", "html": "text/html", "calendar": "text/calendar",
	"twiml": "application/xml", "bytes": "application/octet-stream",
	"jsonl": "application/jsonl", "csv": "text/csv", "markdown": "text/markdown"}

func (s spec) responses(method, path string, op operation) (object, error) {
	out := object{}
	oks := op.OK
	if len(oks) == 0 {
		oks = map[int]string{http.StatusOK: "empty"}
	}
	for status, short := range oks {
		answer := object{"description": http.StatusText(status)}
		short, optional := strings.CutPrefix(short, "?")
		if optional { // OpenAPI cannot describe a body that may be missing
			answer["description"] = http.StatusText(status) + ", with or without a body"
			answer["x-body-optional"] = true
		}
		if kind, ok := bodies[short]; ok {
			content := object{kind: object{"schema": object{"type": "string"}}}
			if optional && strings.HasPrefix(path, "/v0/") {
				content["application/json"] = object{} // v0 labels empty bodies and plain text like this
			}
			answer["content"] = content
		} else if short != "empty" {
			schema, err := s.schema(short)
			if err != nil {
				return nil, err
			}
			answer["content"] = object{"application/json": object{"schema": schema}}
		}
		out[fmt.Sprint(status)] = answer
	}
	for _, status := range s.refusals(method, path, op) {
		if _, ok := out[fmt.Sprint(status)]; !ok {
			out[fmt.Sprint(status)] = refusal(path, status, op.Failure, op.Access)
		}
	}
	return out, nil
}

// refusals returns the statuses of errors: those that the operation names, and those that follow from its access and
// path.
func (s spec) refusals(method, path string, op operation) []int {
	all := slices.Clone(op.Errors)
	switch op.Access {
	case "public":
	case "vendor", "token":
		all = append(all, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden)
	case "webhook":
		all = append(all, http.StatusBadRequest, http.StatusUnauthorized)
	default:
		all = append(all, http.StatusUnauthorized, http.StatusForbidden)
	}
	if strings.Contains(path, "{") {
		all = append(all, http.StatusNotFound)
	}
	if op.Body != "" || len(op.Query) > 0 || strings.Contains(path, "{") {
		all = append(all, http.StatusBadRequest)
	}
	if op.Body != "" {
		all = append(all, http.StatusRequestEntityTooLarge)
	}
	return append(all, http.StatusTooManyRequests, http.StatusServiceUnavailable)
}

// refusal is an error in the shape of its path, or as a page.
func refusal(path string, status int, failure, access string) object {
	answer := object{"description": http.StatusText(status)}
	switch {
	case failure != "" && bodies[failure] == "": // a schema
		answer["content"] = object{"application/json": object{"schema": object{"$ref": "#/components/schemas/" +
			failure}}}
	case failure != "":
		answer["content"] = object{bodies[failure]: object{"schema": object{"type": "string"}}}
	case access == "session":
		answer["content"] = object{"text/html": object{"schema": object{"type": "string"}},
			"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}
	case strings.HasPrefix(path, "/v0/") && status == http.StatusNotFound && access != "webhook":
		answer["description"] = "Not Found, without a body"
	case strings.HasPrefix(path, "/v0/"), strings.HasPrefix(path, "/api/"), path == "/login", path == "/logout":
		answer["content"] = object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}}
	default:
		answer["content"] = object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}
	}
	return answer
}

// accesses returns the credentials of each access rule. Several entries are alternatives; an empty one needs no
// credentials.
var accesses = func() map[string][]any {
	app, session, none := object{"application": []any{}}, object{"session": []any{}}, object{}
	known := []any{app, session, object{"personal": []any{}}}
	return map[string][]any{
		"public": {none}, "open": known, "any": known, "write": known, "self": known, "user": known, "own": known, "admin": known,
		"team-admin": known, "member": known, "app": {app}, "webhook": {object{"webhook": []any{}}}, "token": {object{"integration": []any{}}}, "vendor": {object{"vendor": []any{}}},
		"session": {session},
	}
}()
