package postgres

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// maxName is the greatest length of a name in bytes.
const maxName = 255

// CleanName trims a name. Characters that no name may hold are an Invalid fault.
func CleanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", fault.Invalidf("name", "the name is empty")
	case len(name) > maxName:
		return "", fault.Invalidf("name", "the name is longer than %d bytes", maxName)
	case Storable(name) != name || strings.ContainsFunc(name, unicode.IsControl) ||
		strings.ContainsRune(name, utf8.RuneError):
		// Invalid UTF-8 arrives as U+FFFD; nobody could type such a name.
		return "", fault.Invalidf("name", "the name holds characters that cannot be used")
	}
	return name, nil
}

// Storable replaces NUL and invalid UTF-8, which PostgreSQL refuses, in text that is compared with stored text. A name
// that cannot exist is then not found.
func Storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// CleanText removes NUL and replaces invalid UTF-8 in text that is stored.
func CleanText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// NullText returns text for a nullable column: nil for "".
func NullText(s string) *string {
	if s == "" {
		return nil
	}
	s = Storable(s)
	return &s
}

// Deref returns what a nullable column holds, or the zero value.
func Deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// UTC returns an instant in UTC; nil stays nil.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

// epoch means "no time" in arrays, which hold no nulls.
var epoch = time.Unix(0, 0).UTC()

// OrEpoch returns a time for an array that holds no nulls: the epoch for no time. OrZero is the reverse.
func OrEpoch(t time.Time) time.Time {
	if t.IsZero() {
		return epoch
	}
	return t
}

// OrZero returns the zero time for the epoch.
func OrZero(t time.Time) time.Time {
	if t.Equal(epoch) {
		return time.Time{}
	}
	return t
}

// NullTime returns a time for a nullable column or parameter: nil for the zero time.
func NullTime(now time.Time) *time.Time {
	if now.IsZero() {
		return nil
	}
	return &now
}

// NullID returns an id for a nullable column: nil for 0.
func NullID[T ~int64](id T) *T {
	if id == 0 {
		return nil
	}
	return &id
}

// NonNil returns an empty list for nil, which would be null in SQL.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Zip makes a map of two arrays of the same length.
func Zip[K, V ~string](keys, values []string) map[K]V {
	out := make(map[K]V, len(keys))
	for i, k := range keys {
		if i < len(values) {
			out[K(k)] = V(values[i])
		}
	}
	return out
}

// ToSeconds returns whole seconds, as columns named _seconds hold them.
func ToSeconds(d time.Duration) int { return int(d / time.Second) }

// FromSeconds is the reverse of ToSeconds.
func FromSeconds(s int) time.Duration { return time.Duration(s) * time.Second }

// FloatSeconds turns seconds that SQL computed into a duration.
func FloatSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Micros turns microseconds into a duration.
func Micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// Location loads a team's time zone. A zone that this machine does not know becomes UTC: a calendar that is hours off
// is better than none. The name was checked when it was set.
func Location(name string) *time.Location {
	if loc, err := time.LoadLocation(name); err == nil && name != "Local" {
		return loc
	}
	return time.UTC
}

// NewUUID returns a random UUID (version 4).
func NewUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// RequireRow turns "no row changed" into a NotFound fault.
func RequireRow(rows int64, err error) error {
	if err == nil && rows == 0 {
		return fault.New(fault.NotFound, "not found")
	}
	return err
}

// RequireNew turns "no row added" into a Conflict fault.
func RequireNew(rows int64, err error) error {
	if err == nil && rows == 0 {
		return fault.New(fault.Conflict, "it exists already")
	}
	return err
}

// IgnoreNoRows turns the error of a row that does not exist into nil.
func IgnoreNoRows(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}
