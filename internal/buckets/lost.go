package buckets

import (
	"errors"
	"fmt"
)

// ErrLost is matched (errors.Is) by every error that says a lease is no longer ours.
var ErrLost = errors.New("bucket lease lost")

// LostError tells which leases were no longer valid when a transaction checked them. Nothing of that transaction was
// written. Whoever meets one hands its Buckets to Holder.Lost and goes on with the other buckets.
type LostError struct {
	Buckets Set
}

// Error names the buckets.
func (e *LostError) Error() string { return fmt.Sprintf("%v: buckets %v", ErrLost, e.Buckets.List()) }

// Unwrap makes errors.Is(err, ErrLost) true.
func (e *LostError) Unwrap() error { return ErrLost }
