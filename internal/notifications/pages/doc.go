// Package pages serves the updates of an incident with the form that sends one, and the subscriptions of a person. The
// pages call the operations, which check what the reader may do.
package pages
