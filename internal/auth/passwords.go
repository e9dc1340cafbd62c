package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/iris-oncall/iris/internal/fault"
)

// Cost of argon2id: 19 MiB, two passes, one lane; about 30 ms of one core.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonKey     = 32

	minPassword = 8
	maxPassword = 1024
	// atOnce bounds the memory that log-ins can take (19 MiB each).
	atOnce = 4
	// hashWait is how long a log-in waits for its turn: enough for some 200 at once on one core.
	hashWait = 8 * time.Second
)

// ErrBusy is in the chain of what Hash and Check return when too many passwords are being checked.
var ErrBusy = &fault.Error{Kind: fault.Unavailable, Message: "too many log-ins at once, try again in a few seconds", RetryAfter: 3 * time.Second}

// Passwords hashes and checks passwords with argon2id, a few at a time. It is safe for concurrent use.
type Passwords struct {
	slots chan struct{}
	wait  time.Duration
	decoy string
}

// NewPasswords returns a checker for one process.
func NewPasswords() *Passwords {
	// Hashing takes a core, which paging and answering also need.
	p := &Passwords{slots: make(chan struct{}, min(atOnce, max(1, runtime.GOMAXPROCS(0)/2))), wait: hashWait}
	p.decoy = encodeHash(make([]byte, 16), make([]byte, argonKey))
	return p
}

// CheckNewPassword returns an Invalid fault if a person should not choose this password.
func CheckNewPassword(password string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < minPassword:
		return fault.Invalidf("password", "the password must have at least %d characters", minPassword)
	case len(password) > maxPassword:
		return fault.Invalidf("password", "the password is too long")
	}
	return nil
}

// Hash returns the text to store for a password (PHC format). It waits a few seconds for its turn (ErrBusy).
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	if password == "" || len(password) > maxPassword {
		return "", fault.Invalidf("password", "the password is empty or too long")
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // crypto/rand never fails
	key, err := p.key(ctx, password, salt)
	if err != nil {
		return "", err
	}
	return encodeHash(salt, key), nil
}

// Check reports whether password is the one that was hashed. An empty or unreadable hash takes as long as a real one
// and matches nothing, so that a caller without an account learns nothing from the time it takes.
func (p *Passwords) Check(ctx context.Context, hash, password string) (bool, error) {
	salt, want, known := decodeHash(hash)
	if !known {
		salt, want, _ = decodeHash(p.decoy)
	}
	if len(password) > maxPassword {
		return false, nil
	}
	got, err := p.key(ctx, password, salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && known && password != "", nil
}

func (p *Passwords) key(ctx context.Context, password string, salt []byte) ([]byte, error) {
	timer := time.NewTimer(p.wait)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-timer.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, &fault.Error{Kind: ErrBusy.Kind, Message: ErrBusy.Message, RetryAfter: ErrBusy.RetryAfter, Err: errors.Join(ErrBusy, ctx.Err())}
	}
	return argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey), nil
}

func encodeHash(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

// decodeHash accepts exactly what encodeHash writes with today's cost; a change of cost must keep the old one as well.
func decodeHash(hash string) (salt, key []byte, ok bool) {
	prefix := fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, argonMemory, argonTime, argonThreads)
	rest, ok := strings.CutPrefix(hash, prefix)
	if !ok {
		return nil, nil, false
	}
	first, second, ok := strings.Cut(rest, "$")
	if !ok {
		return nil, nil, false
	}
	salt, err := base64.RawStdEncoding.DecodeString(first)
	if err != nil || len(salt) == 0 {
		return nil, nil, false
	}
	key, err = base64.RawStdEncoding.DecodeString(second)
	return salt, key, err == nil && len(key) == argonKey
}
