package postgres

import "time"

// SelfTestEvery makes a listener test itself more often than in production.
func SelfTestEvery(l *Listener, every time.Duration) { l.every = every }
