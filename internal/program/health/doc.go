// Package health answers whether a process runs, whether it is ready, and whether incidents are paged. It logs and
// exports what is missing. Both servers use it. It never stops or restarts anything.
package health
