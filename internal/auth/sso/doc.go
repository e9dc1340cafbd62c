// Package sso decides who a person is who logs in with an account at an identity provider, and which rights the groups
// of the account give. The log-in by OIDC and the log-in behind an authenticating proxy use it. It does not know the
// protocols, HTTP or storage.
package sso
