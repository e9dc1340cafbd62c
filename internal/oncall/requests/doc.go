// Package requests has the code that the two calendar APIs share: /api/v0 (oncallapi) and the calendar part of /v1
// (oncall/pages). It authenticates callers, finds the objects that a path names, decodes the edits in a body of /api/v0 and
// encodes shifts. The rules of calendars are in package oncall and storage is behind interfaces. Failures are faults with the
// texts that Oncall's clients know.
package requests
