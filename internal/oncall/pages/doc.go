// Package pages serves the pages and the routes of /v1 about the on-call calendar.
package pages
