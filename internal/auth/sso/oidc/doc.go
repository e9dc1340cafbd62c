// Package oidc logs people in at OpenID Connect providers: authorization code with PKCE, and the logout that a provider
// announces. The pages of the log-in use it. It decides what a provider says about an account; package sso decides who
// that is in Iris.
package oidc
