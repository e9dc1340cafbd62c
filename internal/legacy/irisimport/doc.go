// Package irisimport imports the database of LinkedIn's Iris. It knows Iris's tables and converts their values. Package
// imports and its Store read and store the rows. internal/program/operator calls it.
package irisimport
