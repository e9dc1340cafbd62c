// Package commands has the commands that work over /v1, from any machine, and the rendering of templates. Package
// remote says where they send their requests. The iris command uses it.
package commands
