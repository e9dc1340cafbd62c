// Package commands has the commands that work over /v1, from any machine, and the rendering of templates. Package
// remote decides where their requests go. The iris command uses it. It does not know the database. A command fails with
// the error of the server, or with a usage error of package remote.
package commands
