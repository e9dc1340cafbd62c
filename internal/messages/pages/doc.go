// Package pages serves the pages and the routes of /v1 about messages.
package pages
