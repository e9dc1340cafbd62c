package postgres

// Fence lets tests outside the package check leases as the adapters do.
var Fence = fence
