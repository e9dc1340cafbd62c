package buckets

import (
	"errors"
	"fmt"
)

// ErrLost matches (errors.Is) every error about a lost lease.
var ErrLost = errors.New("bucket lease lost")

// LostError names the leases that were no longer valid when a transaction checked them. The transaction wrote nothing.
// The caller passes Buckets to Holder.Lost and continues with the other buckets.
type LostError struct {
	Buckets Set
}

// Error names the buckets.
func (e *LostError) Error() string { return fmt.Sprintf("%v: buckets %v", ErrLost, e.Buckets.List()) }

// Unwrap makes errors.Is(err, ErrLost) true.
func (e *LostError) Unwrap() error { return ErrLost }
