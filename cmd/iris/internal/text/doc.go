// Package text prints results of commands as tables, for people and for scripts. The iris command uses it. It sends no
// requests. It fails only if the output cannot be written.
package text
