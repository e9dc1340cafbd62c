// Package pages serves the home page, statistics and the pages for operators, and their routes of /v1.
package pages
