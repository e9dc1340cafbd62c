// Package signon serves the log-in with accounts of identity providers: the way to a provider and back, the logout that
// a provider announces, and the log-in behind an authenticating proxy. Package site mounts the routes. It knows no
// protocol: the providers do.
package signon
