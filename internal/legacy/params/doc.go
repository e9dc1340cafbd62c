// Package params reads the query of requests, for every edge: single parameters, the requested fields, and filters of
// the form field__op=value.
package params
