// Package pages serves the pages about integrations and heartbeats. It mounts their operations, the route that opens
// incidents, and previews of templates.
package pages
