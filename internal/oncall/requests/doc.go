// Package requests has what the two calendar APIs share: /api/v0 (oncallapi) and the calendar part of /v1
// (oncall/pages). It authenticates callers, and says which of them may use a route and change what belongs to a person.
package requests
