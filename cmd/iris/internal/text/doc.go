// Package text prints results of commands as tables, for people and for scripts. The iris command uses it.
package text
