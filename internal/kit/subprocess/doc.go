// Package subprocess starts child processes that do not outlive this process. Each child has its own process group, so
// that Ctrl-C on a terminal signals only the parent, which stops its children in order. On Linux the kernel signals the
// children when the parent dies. pgserver, devmode, bench and the end-to-end tests use it.
package subprocess
