// Package pages serves the pages and the routes of /v1 about plans, templates and applications. Plans and templates are
// operations of package catalog.
package pages
