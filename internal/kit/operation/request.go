package operation

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
)

// IsBody reports whether inputs of the type are the body of a request of /v1 as they are: no member has the tag path or query, or the name Body.
func IsBody(method string, in reflect.Type) bool {
	for _, f := range reflect.VisibleFields(in) {
		if f.Tag.Get("path") != "" || f.Tag.Get("query") != "" || f.Name == "Body" {
			return false
		}
	}
	return method != http.MethodGet && in.NumField() > 0
}

// Request returns the path and the body of a request of /v1. A nil body is none.
func Request[In, Out any](d Def[In, Out], in In) (path string, body any) {
	path = d.Path
	v := reflect.ValueOf(in)
	if IsBody(d.Method, v.Type()) {
		return path, in
	}
	query := url.Values{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous {
			continue
		}
		value := v.FieldByIndex(f.Index)
		if name := f.Tag.Get("path"); name != "" {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(value)))
		}
		if name := f.Tag.Get("query"); name != "" && !value.IsZero() {
			query.Set(name, fmt.Sprint(value))
		}
		if f.Name == "Body" {
			body = value.Interface()
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, body
}
