// Package wire has the code that all HTTP edges share: reading a body once and within a limit, strict decoding of JSON,
// authentication and sessions, limits on requests, and answers. Errors writes a failure in the form that the clients of
// a path expect. The edges (the packages named pages, intake/hooks, answers, legacy) call it.
// It imports no storage.
package wire
