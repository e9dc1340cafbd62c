package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// description is the OpenAPI document of a server.
type description struct {
	document   map[string]any
	compiler   *jsonschema.Compiler
	operations []descriptionOf
}

type descriptionOf struct {
	method, path, access string
	name, rule           string   // of the operation of a wing; "" = it is none
	audit                []string // the actions of the audit log that an operation of a wing may write
	match                *regexp.Regexp
	fixed                int // parts of the path that are not parameters; the operation with more of them takes precedence
	responses            map[string]any
	pointer              string
}

const documentURL = "mem:///openapi.json"

var parameter = regexp.MustCompile(`\\\{[a-z_]+\\\}`)

// describe reads the document.
func describe(t *testing.T, url string) *description {
	t.Helper()
	resp, err := http.Get(url + "/openapi.json")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	require.NoError(t, err)
	d := &description{compiler: jsonschema.NewCompiler()}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, d.compiler.AddResource(documentURL, doc))
	require.NoError(t, json.Unmarshal(raw, &d.document))
	for path, item := range d.document["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			o := op.(map[string]any)
			rest := "[^/]+"
			if strings.HasPrefix(path, "/static/") {
				rest = ".+"
			}
			name, _ := o["x-iris-operation"].(string)
			rule, _ := o["x-iris-rule"].(string)
			var actions []string
			entries, _ := o["x-iris-audit"].([]any)
			for _, action := range entries {
				actions = append(actions, action.(string))
			}
			d.operations = append(d.operations, descriptionOf{
				method: strings.ToUpper(method), path: path, access: o["x-iris-access"].(string), name: name, rule: rule, audit: actions, fixed: fixedParts(path),
				match:     regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(path), rest) + "$"),
				responses: o["responses"].(map[string]any),
				pointer: "#/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(path) + "/" + method +
					"/responses/",
			})
		}
	}
	covering.Lock()
	defer covering.Unlock()
	for _, o := range d.operations {
		described[o.method+" "+o.path] = true
		if o.name != "" {
			promised[o.method+" "+o.path] = o.audit
		}
	}
	slices.SortFunc(d.operations, func(a, b descriptionOf) int {
		if a.fixed != b.fixed {
			return b.fixed - a.fixed
		}
		return strings.Compare(a.path+a.method, b.path+b.method)
	})
	return d
}

func fixedParts(path string) int {
	n := 0
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && !strings.HasPrefix(part, "{") {
			n++
		}
	}
	return n
}

// find returns the operation of a request; nil if there is none.
func (d *description) find(method, path string) *descriptionOf {
	for i, o := range d.operations {
		if o.method == method && (o.match.MatchString(path) || o.match.MatchString(strings.TrimSuffix(path, "/"))) {
			return &d.operations[i]
		}
	}
	return nil
}

// conforms fails the test if the answer differs from the description. It returns the operation's name. It returns false
// for a request without a described operation (unknown paths and methods).
func (d *description) conforms(t *testing.T, method, path string, a answer) (string, bool) {
	t.Helper()
	o := d.find(method, path)
	if o == nil || a.status == http.StatusMethodNotAllowed {
		return "", false
	}
	redirected := a.status >= 300 && a.status < 400 // the body is for browsers that do not follow redirects
	described, ok := o.responses[fmt.Sprint(a.status)].(map[string]any)
	require.True(t, ok, "%s: the status %d is not described: %s", a.what, a.status, a.body)
	content, _ := described["content"].(map[string]any)
	if redirected || a.status == http.StatusNotFound && a.body == "" && strings.HasPrefix(path, "/v0/") {
		return method + " " + o.path, true
	}
	if len(content) == 0 {
		require.Empty(t, a.body, "%s: no body is described for %d", a.what, a.status)
		return method + " " + o.path, true
	}
	if optional, _ := described["x-body-optional"].(bool); optional && a.body == "" {
		return method + " " + o.path, true
	}
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	require.NoError(t, err, "%s: content type %q", a.what, a.header.Get("Content-Type"))
	if _, bytes := content["application/octet-stream"]; bytes {
		return method + " " + o.path, true
	}
	require.Contains(t, content, kind, "%s: the content type is not described for %d", a.what, a.status)
	media, _ := content[kind].(map[string]any)
	if !strings.HasSuffix(kind, "json") || len(media) == 0 { // without a schema, text that v0 labels JSON
		return method + " " + o.path, true
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	require.NoError(t, err, "%s: %s", a.what, a.body)
	schema, err := d.compiler.Compile(documentURL + o.pointer + fmt.Sprint(a.status) + "/content/" +
		strings.ReplaceAll(kind, "/", "~1") + "/schema")
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value), "%s: not as described: %s", a.what, a.body)
	return method + " " + o.path, true
}

// Compiles every schema of the document.
func TestDescriptionCompiles(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	require.Equal(t, "3.1.0", s.api.document["openapi"])
	for _, o := range s.api.operations {
		for status, r := range o.responses {
			content, _ := r.(map[string]any)["content"].(map[string]any)
			for kind, media := range content {
				if len(media.(map[string]any)) == 0 {
					continue // a body that may be empty or text has this type, too
				}
				_, err := s.api.compiler.Compile(documentURL + o.pointer + status + "/content/" +
					strings.ReplaceAll(kind, "/", "~1") + "/schema")
				require.NoError(t, err, "%s %s %s", o.method, o.path, status)
			}
		}
	}
	s.do(anonymous, http.MethodGet, "/docs", nil).is(http.StatusOK)
}
