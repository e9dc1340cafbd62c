// Package teams has the operations that make and change teams, their people, their rosters, the services for which they
// answer and the subscriptions between them, and the rules of these. All doors call the operations; the API of Oncall translates their refusals.
package teams
