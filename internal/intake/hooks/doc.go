// Package hooks takes the deliveries of integrations over HTTP: below /v1/hooks in the sender's own format, and at the
// root in place of PagerDuty's Events API and Opsgenie's Alert API. It authenticates a delivery by the token of its
// integration, decodes it, and answers in the form that the sender's clients expect. iris-api mounts the routes. The
// package knows no format: package sources decodes.
package hooks
