package operation

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// IsBody reports whether inputs of the type are the body of a request of /v1 as they are: no member has the tag path,
// query or header, or the name Body.
func IsBody(method string, in reflect.Type) bool {
	for _, f := range reflect.VisibleFields(in) {
		if f.Tag.Get("path") != "" || f.Tag.Get("query") != "" || f.Tag.Get("header") != "" || f.Name == "Body" {
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
		if name, _, several := strings.Cut(f.Tag.Get("query"), ","); several {
			for i := range value.Len() {
				query.Add(name, fmt.Sprint(value.Index(i)))
			}
		} else if name != "" && !value.IsZero() {
			query.Set(name, text(value))
		}
		if f.Name == "Body" && !(value.Kind() == reflect.Pointer && value.IsNil()) {
			body = value.Interface()
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, body
}

// Path returns a path of /v1 with the values of its parameters, in their order.
func Path(path string, values ...any) string {
	for _, v := range values {
		begin, rest, _ := strings.Cut(path, "{")
		_, end, _ := strings.Cut(rest, "}")
		path = begin + url.PathEscape(fmt.Sprint(v)) + end
	}
	return path
}

// text returns a value as a query has it.
func text(v reflect.Value) string {
	if at, ok := v.Interface().(time.Time); ok {
		return at.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}
