package pages

import (
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/servicetokens"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Operations are the operations of package auth and of the packages below it.
type Operations struct {
	Sessions    *auth.Sessions
	Tokens      *tokens.Tokens
	Services    *servicetokens.Services
	Connections *scim.Connections
	Links       *sso.Links
	Accounts    *accounts.Administration
	Audit       *auth.AuditLog
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
	mount.Mount(a, o.Connections.List)
	mount.Mount(a, o.Connections.Add)
	mount.Mount(a, o.Connections.Get)
	mount.Mount(a, o.Connections.Delete)
	mount.Mount(a, o.Connections.RotateToken)
	mount.Mount(a, o.Connections.EndOldTokens)
	mount.Mount(a, o.Connections.GiveUser)
	mount.Mount(a, o.Connections.ListHeld)
	mount.Mount(a, o.Connections.Confirm)
	mount.Mount(a, o.Connections.Reject)
	mount.Mount(a, o.Links.List)
	mount.Mount(a, o.Links.Add)
	mount.Mount(a, o.Links.Refusals)
	mount.Mount(a, o.Links.Unlink)
	mount.Mount(a, o.Accounts.Invitations)
	mount.Mount(a, o.Accounts.Invite)
	mount.Mount(a, o.Accounts.Resend)
	mount.Mount(a, o.Accounts.Revoke)
	mount.Mount(a, o.Accounts.SendPasswordLink)
	mount.Mount(a, o.Accounts.RemoveFactor)
	mount.Mount(a, o.Audit.List)
	mount.Mount(a, o.Audit.Export)
}
