// Package devmode runs Iris on one machine for `iris dev`: PostgreSQL, iris-api and message-processors as child
// processes, demo data, and a mailbox that receives all messages through pretend vendors. cmd/iris calls it. Production
// does not use it.
package devmode
