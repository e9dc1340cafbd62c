package auth

import (
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
)

// ErrLogInAgain is the refusal of a dangerous request in a session whose log-in is too old. After a further log-in it is admitted.
var ErrLogInAgain = fault.New(fault.LogInAgain, "This needs a recent log-in: log in again, then repeat it")

// dangerous lists the changes with which somebody could keep access, take over an account, delete much or stop pages. In a browser's session they need a recent
// log-in, so that an open screen or a stolen cookie is not enough. A segment * stands for any segment.
var dangerous = [...]struct{ method, path string }{
	{http.MethodPost, "/v1/tokens"},
	{http.MethodPost, "/v1/service-tokens"},
	{http.MethodPost, "/v1/scim-connections"},
	{http.MethodPut, "/v1/scim-connections/*/token"},
	{http.MethodPost, "/v1/scim-connections/*/users"},
	{http.MethodDelete, "/v1/scim-connections/*"},
	{http.MethodPost, "/v1/held-deactivations/*/confirm"},
	{http.MethodPost, "/v1/identities"},
	{http.MethodPost, "/v1/invitations"},
	{http.MethodPost, "/v1/users"},
	{http.MethodPut, "/v1/users/*"},
	{http.MethodDelete, "/v1/users/*"},
	{http.MethodPost, "/v1/users/*/password-link"},
	{http.MethodDelete, "/v1/users/*/second-factor"},
	{http.MethodPost, "/v1/users/*/contacts/*/verify"}, // a verified address gets links that set the password
	{http.MethodDelete, "/v1/teams/*"},
	{http.MethodPost, "/v1/messages/purge"},
	{http.MethodPut, "/v1/system/pauses/*"},
	{http.MethodPut, "/v1/applications/*/paused"},
	{http.MethodPost, "/tokens"},
	{http.MethodPost, "/service-tokens"},
	{http.MethodPost, "/login/command-line"},
	{http.MethodPost, "/invitations"},
	{http.MethodPost, "/invitations/*/send"},
}

// contact is the path of a contact. A contact that an administrator sets counts as verified.
const contact = "/v1/users/*/contacts/*"

// NeedsRecentLogin reports whether a request in a session needs a recent log-in. path is decoded. admin: the person is an administrator.
func NeedsRecentLogin(method, path string, admin bool) bool {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	if admin && method == http.MethodPut && matches(strings.Split(contact, "/"), segments) {
		return true
	}
	for _, d := range dangerous {
		if d.method == method && matches(strings.Split(d.path, "/"), segments) {
			return true
		}
	}
	return false
}

func matches(pattern, segments []string) bool {
	if len(pattern) != len(segments) {
		return false
	}
	for i, p := range pattern {
		if p != "*" && p != segments[i] {
			return false
		}
	}
	return true
}
