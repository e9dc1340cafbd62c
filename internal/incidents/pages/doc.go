// Package pages serves the pages and the routes of /v1 about incidents. Package site and the API server mount them. It
// knows no SQL: changes are operations of package incidents. A refused change is shown on the page; other errors become
// error pages.
package pages
