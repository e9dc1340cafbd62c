// Package pages serves the pages and the routes of /v1 about integrations and heartbeats, the route that opens
// incidents, and previews of templates and payloads.
package pages
