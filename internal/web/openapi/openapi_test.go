package openapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// typed has the schemas of operations that the descriptions in YAML name.
var typed = Typed{Schemas: map[string]map[string]any{"IncidentDetail": {"type": "object"}, "IncidentsTarget": {"type": "object"}}}

func asset(name string) string { return "/static/" + name }

func TestDescriptionCompiles(t *testing.T) {
	t.Parallel()
	d, err := New("test", asset, typed)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(d.document, &doc))
	require.Equal(t, "3.1.0", doc["openapi"])
	ids := map[string]string{}
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			id := op.(map[string]any)["operationId"].(string)
			require.Empty(t, ids[id], "%s %s has the operation id of %s", method, path, ids[id])
			ids[id] = method + " " + path
		}
	}
}

func TestServesDocumentAndPage(t *testing.T) {
	t.Parallel()
	d, err := New("1.2.3", asset, typed)
	require.NoError(t, err)
	rec := httptest.NewRecorder()
	d.JSON(rec, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	tag := rec.Header().Get("ETag")
	require.NotEmpty(t, tag)

	again := httptest.NewRequest(http.MethodGet, "/openapi.json", nil)
	again.Header.Set("If-None-Match", tag)
	rec = httptest.NewRecorder()
	d.JSON(rec, again)
	require.Equal(t, http.StatusNotModified, rec.Code)
	require.Zero(t, rec.Body.Len())

	rec = httptest.NewRecorder()
	d.Page(rec, httptest.NewRequest(http.MethodGet, "/docs", nil))
	body := rec.Body.String()
	for _, word := range []string{"/v0/incidents/{id}", "1.2.3", "Open an incident", "/static/console.css"} {
		require.Contains(t, body, word)
	}
}

func TestShortForms(t *testing.T) {
	t.Parallel()
	s := spec{Schemas: map[string]map[string]any{"Thing": {}}}
	for short, want := range map[string]string{
		"string":        `{"type":"string"}`,
		"[Thing]":       `{"items":{"$ref":"#/components/schemas/Thing"},"type":"array"}`,
		"{{integer}}":   `{"additionalProperties":{"additionalProperties":{"type":"integer"},"type":"object"},"type":"object"}`,
		"string|null":   `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		"{string|null}": `{"additionalProperties":{"anyOf":[{"type":"string"},{"type":"null"}]},"type":"object"}`,
		"<Thing>": `{"type":"object","properties":{"items":{"items":{"$ref":"#/components/schemas/Thing"},"type":"array"},"next":{"type":"null"}},
			"required":["items","next"],"additionalProperties":false}`,
		"flag":                `{"enum":[0,1],"type":"integer"}`,
		"any":                 `{}`,
		"[[Thing]]|{boolean}": `{"anyOf":[{"items":{"items":{"$ref":"#/components/schemas/Thing"},"type":"array"},"type":"array"},{"additionalProperties":{"type":"boolean"},"type":"object"}]}`,
	} {
		got, err := s.schema(short)
		require.NoError(t, err, short)
		raw, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, want, string(raw), short)
	}
	for _, short := range []string{"", "Unknown", "[Unknown]", "<Unknown>", "[string", "{", "string|Unknown"} {
		_, err := s.schema(short)
		require.Error(t, err, short)
	}
}

func TestMistakesInTheDescriptionAreFound(t *testing.T) {
	t.Parallel()
	good := operation{Tag: "t", Summary: "s", Access: "any"}
	change := func(f func(*operation)) operation { op := good; f(&op); return op }
	for want, s := range map[string]spec{
		"sum is missing":            {Paths: map[string]map[string]operation{"/x": {"get": change(func(o *operation) { o.Summary = "" })}}},
		`access "all" is not known`: {Paths: map[string]map[string]operation{"/x": {"get": change(func(o *operation) { o.Access = "all" })}}},
		`tag "u" is not known`:      {Paths: map[string]map[string]operation{"/x": {"get": change(func(o *operation) { o.Tag = "u" })}}},
		`schema "X" is not known`:   {Paths: map[string]map[string]operation{"/x": {"post": change(func(o *operation) { o.Body = "X" })}}},
		`"q" is not described`:      {Paths: map[string]map[string]operation{"/x": {"get": change(func(o *operation) { o.Query = []string{"q"} })}}},
		"parameter q: no operation": {Parameters: map[string]map[string]any{"q": {}}},
		"fetch is not a method":     {Paths: map[string]map[string]operation{"/x": {"fetch": good}}},
	} {
		s.Tags = []tag{{Name: "t"}}
		_, err := compile(s, "")
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, merge("f", map[string]int{"a": 1}, map[string]int{"a": 2}), "described twice")
	require.True(t, strings.HasPrefix(operationID("get", "/v0/users/{username}/in_lists"), "get_v0_users_username"))
}
