// Package operator does what operators do by hand: it adds and changes users, applications, teams, plans, templates,
// integrations and heartbeats, and answers who is on call. It writes to the database and to the audit log. cmd/iris and the demo data call it;
// iris-api shares its removals and its simulator. It knows neither HTTP nor flags. Errors that a caller can avoid are
// faults.
package operator
