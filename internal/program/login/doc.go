// Package login checks who logs in to the pages: with a local password or the directory's, and with a limit on
// attempts. iris-api uses it. The rules about accounts are in internal/auth.
package login
