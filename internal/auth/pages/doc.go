// Package pages serves the pages and the routes of /v1 about log-in and access: accounts, sessions, tokens, accounts at
// identity providers, directories that push people, and the audit log. It has no rule of its own.
package pages
