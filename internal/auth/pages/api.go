package pages

import (
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/servicetokens"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Operations are the operations of the wing.
type Operations struct {
	Sessions *auth.Sessions
	Tokens   *tokens.Tokens
	Services *servicetokens.Services
}

// Mount adds the operations to /v1.
func Mount(a *mount.API, o Operations) {
	mount.Mount(a, o.Sessions.List)
	mount.Mount(a, o.Sessions.EndOthers)
	mount.Mount(a, o.Sessions.End)
	mount.Mount(a, o.Services.List)
	mount.Mount(a, o.Services.Create)
	mount.Mount(a, o.Services.Get)
	mount.Mount(a, o.Services.Revoke)
	mount.Mount(a, o.Tokens.List)
	mount.Mount(a, o.Tokens.Create)
	mount.Mount(a, o.Tokens.Exchange)
	mount.Mount(a, o.Tokens.Current)
	mount.Mount(a, o.Tokens.RevokeCurrent)
	mount.Mount(a, o.Tokens.Revoke)
}
