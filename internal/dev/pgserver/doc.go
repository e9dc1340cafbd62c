// Package pgserver runs a PostgreSQL server for `iris dev`, the bench and tests. It finds an installed PostgreSQL or
// downloads one, creates a data directory, runs the server as an unprivileged user if this process is root, and stops
// it when this process ends, in any way. Production does not use it.
//
// Start shares one server per state directory: the first process owns it, others use it while it runs. StartTemporary
// starts a server with an empty database for this process only; each test binary uses one. Files below the state
// directory:
//
//	postgres/setup.lock        held while binaries or data directories are created
//	postgres/owner.lock        held by the owner of the shared server
//	postgres/bin-17.5.0/       downloaded binaries
//	postgres/data-17/          data directory of a major version (with iris-password)
//	postgres/template-utf8-17/ initialised once, copied for temporary servers
//	postgres/temp/RANDOM/      a temporary server: lock, data, log (a fast one: /dev/shm/iris-HASH/RANDOM/)
package pgserver
