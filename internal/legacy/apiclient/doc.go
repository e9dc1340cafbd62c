// Package apiclient is a client of the JSON API of iris-api. It signs requests as an application and turns answers into
// values and errors. The bench and the end-to-end tests use it. It shares no code with the server, so that its callers
// fail when the wire changes.
package apiclient
