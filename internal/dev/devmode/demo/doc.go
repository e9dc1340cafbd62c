// Package demo writes the demo data of `iris dev`: people, a team, calendars, an application, a template, a plan and
// integrations. devmode calls it and prints the names. It writes through internal/program/operator only.
package demo
