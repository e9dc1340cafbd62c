// Package webhooks opens, updates and resolves incidents from the alerts of monitoring systems. It has one file for
// each format. The query of a webhook has the application and its key in place of a signature. A repeated delivery
// changes nothing; a resolved delivery resolves the incident. The API server mounts the routes. The package does not
// know how incidents are stored or escalated.
package webhooks
