// Command iris is the tool of the operator: it runs Iris on one machine (dev), migrates a database, changes users,
// applications, teams and plans, prints who is on call, simulates plans, imports data, checks configuration and
// templates, and measures (bench). The work is done in other packages, mostly internal/program/operator.
//
// The commands of package commands work over /v1: on a server, or in this process on the database. The other commands
// on a database read its address from IRIS_DATABASE_URL or from the configuration file. The exit code is 0 if the
// command succeeded, 1 if it failed, 2 if the command line is wrong. Some commands also use 3; their help says when.
package main
