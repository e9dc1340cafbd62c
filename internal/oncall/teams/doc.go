// Package teams has the operations that make and change teams, their people, their rosters and the services for which
// they answer, and the rules of these. The doors call the operations. The API of Oncall also calls the rules, because
// it answers with texts of its own.
package teams
