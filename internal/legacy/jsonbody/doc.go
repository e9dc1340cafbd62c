// Package jsonbody reads the JSON bodies of requests, for every edge. The faults of its getters name the field, and
// have the title that the clients of a route expect.
package jsonbody
