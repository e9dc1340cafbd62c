package postgres

import "time"

// SetCallTimeout makes calls without a deadline end sooner than in production.
func SetCallTimeout(d *DB, timeout time.Duration) { d.timeout = timeout }
