// Package users defines people as paging sees them: who they are, where they can be reached, and which mode they chose
// for which priority. It chooses modes (see ModeFor and NextMode). Every domain and edge uses it. It does not know
// storage or transport. Invalid names and contacts are faults that name the field.
package users
