// Package clock estimates the clock of the database, by which all processes decide what begins, ends and is due. It
// imports nothing of Iris.
package clock
