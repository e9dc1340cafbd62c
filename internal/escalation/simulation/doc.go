// Package simulation predicts whom the engine would page for an incident, when, and in which mode. It decides with
// escalation.Decider, the engine's own code, at future instants. The API, the pages and the command line call it. It
// writes and sends nothing, and does not know SQL or HTTP.
package simulation
