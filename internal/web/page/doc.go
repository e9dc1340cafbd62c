// Package page has what all pages of the web site share: templates, static files, the frame around a page, parts that
// refresh themselves, error pages, and the person who reads the page. The packages of single pages call it. It knows no
// incidents, plans or teams, and it reads no storage.
package page
