// Package applications defines the settings of the programs that call Iris: the variables of their incidents, their
// modes, owners and quotas, and the statistics about them. Storage, the edges and the operator's verbs use it. It does
// not know keys and permissions; package auth does.
package applications
