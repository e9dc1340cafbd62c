// Package intake defines what every alert source is turned into: events. The decoders of package sources make events,
// package routing chooses their plans, and the edges open, update and resolve incidents with them. The package knows no
// source, transport or storage.
package intake
