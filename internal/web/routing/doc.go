// Package routing mounts tables of routes. An API declares its routes as values: method, path, access, and a handler
// that returns an error. A Mount adds the common parts: authentication, the check of access, HEAD and OPTIONS, and the
// answers to errors. The APIs call it. It knows no domain.
package routing
