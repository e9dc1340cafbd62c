package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Docs serves the description as an OpenAPI document and as a page. It is safe for concurrent use.
type Docs struct {
	document, page []byte
	tag            string
	queries        map[string][]string // by method and path: the names of the parameters of the query
}

// New compiles the description of the files and of typed operations. asset finds the address of a static file of the
// web pages.
func New(version string, asset func(name string) string, t Typed) (*Docs, error) {
	s, err := read()
	if err == nil {
		err = s.add(t)
	}
	if err != nil {
		return nil, err
	}
	doc, err := compile(s, version)
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	raw, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, newPage(s, version, asset)); err != nil {
		return nil, fmt.Errorf("write the page of the API: %w", err)
	}
	sum := sha256.Sum256(raw)
	return &Docs{document: raw, page: page.Bytes(), tag: `"` + hex.EncodeToString(sum[:8]) + `"`,
		queries: s.queries()}, nil
}

// Query returns the names of the query parameters of an operation. described is false if there is no such operation.
func (d *Docs) Query(method, path string) (names []string, described bool) {
	names, described = d.queries[strings.ToLower(method)+" "+path]
	return names, described
}

func (s spec) queries() map[string][]string {
	out := map[string][]string{}
	for path, operations := range s.Paths {
		for method, op := range operations {
			names := []string{}
			for _, parameter := range op.Query {
				name, _ := s.Parameters[parameter]["name"].(string)
				names = append(names, name)
			}
			out[method+" "+path] = names
		}
	}
	return out
}

// JSON answers GET /openapi.json.
func (d *Docs) JSON(w http.ResponseWriter, r *http.Request) {
	d.answer(w, r, "application/json", d.document)
}

// Page answers GET /docs.
func (d *Docs) Page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'")
	d.answer(w, r, "text/html; charset=utf-8", d.page)
}

func (d *Docs) answer(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	h := w.Header()
	h.Set("ETag", d.tag)
	h.Set("Cache-Control", "no-cache")
	if strings.Contains(r.Header.Get("If-None-Match"), d.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", kind)
	_, _ = w.Write(body)
}
