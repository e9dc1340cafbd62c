// Package oncallimport imports the database of LinkedIn's Oncall. It knows Oncall's tables and converts their values.
// Package imports and its Store read and store the rows. internal/program/operator calls it.
package oncallimport
