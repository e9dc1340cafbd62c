// Package site serves the web site: the log-in, the incidents and the sections. This package has the routes, the
// sessions and the log-in. The packages named pages serve the pages; package page renders them. The
// API server mounts the site. Pages work without JavaScript, except those of the calendar.
package site
