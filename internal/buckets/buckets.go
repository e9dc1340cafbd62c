package buckets

import (
	"encoding/hex"
	"fmt"
	"math/bits"
)

// Count is the number of buckets. It is fixed: incidents carry their bucket (id modulo Count).
const Count = 256

// Lease is the right to work on a bucket while the epoch in the database is the same.
type Lease struct {
	Bucket int
	Epoch  int64
}

// Set is a set of buckets. The zero value is empty. It is a value: copying it copies the set.
type Set [Count / 64]uint64

// All returns the set of every bucket.
func All() Set { return Set{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)} }

// Of returns the set of the given buckets.
func Of(bs ...int) Set {
	var s Set
	for _, b := range bs {
		s.Add(b)
	}
	return s
}

// Add adds b, which must be in [0, Count).
func (s *Set) Add(b int) { s[b/64] |= 1 << (b % 64) }

// Remove removes b.
func (s *Set) Remove(b int) { s[b/64] &^= 1 << (b % 64) }

// Has reports whether b is in the set.
func (s Set) Has(b int) bool { return s[b/64]&(1<<(b%64)) != 0 }

// Union adds the buckets of o.
func (s *Set) Union(o Set) {
	for i := range s {
		s[i] |= o[i]
	}
}

// Intersect removes the buckets that are not in o.
func (s *Set) Intersect(o Set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// Within reports whether all buckets of s are in o.
func (s Set) Within(o Set) bool {
	both := s
	both.Intersect(o)
	return both == s
}

// Empty reports whether no bucket is in the set.
func (s Set) Empty() bool { return s == Set{} }

// Len returns how many buckets are in the set.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// List returns the buckets in ascending order.
func (s Set) List() []int {
	out := make([]int, 0, s.Len())
	for i, w := range s {
		for w != 0 {
			out = append(out, i*64+bits.TrailingZeros64(w))
			w &= w - 1
		}
	}
	return out
}

// String returns the set as 64 hexadecimal digits, the form in which wake-ups carry it. ParseSet reads it back.
func (s Set) String() string {
	var raw [Count / 8]byte
	for i := range raw {
		raw[i] = byte(s[i/8] >> (8 * (i % 8)))
	}
	return hex.EncodeToString(raw[:])
}

// ParseSet parses the output of String.
func ParseSet(text string) (Set, error) {
	var s Set
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != Count/8 {
		return s, fmt.Errorf("bucket set must be %d hexadecimal digits", Count/4)
	}
	for i, b := range raw {
		s[i/8] |= uint64(b) << (8 * (i % 8))
	}
	return s, nil
}
