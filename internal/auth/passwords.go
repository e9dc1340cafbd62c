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

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Cost of argon2id: 19 MiB, two passes, one lane; about 30 ms of one core.
const (
	argonMemory  = 19 * 1024 // KiB
	argonTime    = 2
	argonThreads = 1
	argonKey     = 32

	minPassword = 8
	maxPassword = 1024
	// maxHashes limits the memory of concurrent log-ins (19 MiB each).
	maxHashes = 4
	// hashWait is how long a log-in waits for a slot: enough for about 200 concurrent log-ins on one core.
	hashWait = 8 * time.Second
)

// ErrBusy is in the chain of the error of Hash and Check if too many passwords are being checked.
var ErrBusy = &fault.Error{Kind: fault.Unavailable, Message: "too many concurrent log-ins, try again in a few seconds",
	RetryAfter: 3 * time.Second}

// Passwords hashes and checks passwords with argon2id. It limits concurrent hashes. It is safe for concurrent use.
type Passwords struct {
	slots chan struct{}
	wait  time.Duration
	decoy string
}

// NewPasswords returns a hasher. A process should have only one, because each hasher limits only its own concurrent
// hashes.
func NewPasswords() *Passwords {
	// Hashing occupies a core. Half of the cores stay free for other requests.
	p := &Passwords{slots: make(chan struct{}, min(maxHashes, max(1, runtime.GOMAXPROCS(0)/2))), wait: hashWait}
	p.decoy = encodeHash(make([]byte, 16), make([]byte, argonKey))
	return p
}

// CheckNewPassword returns an Invalid fault for a password that is too short or too long.
func CheckNewPassword(password string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < minPassword:
		return fault.Invalidf("password", "the password must have at least %d characters", minPassword)
	case len(password) > maxPassword:
		return fault.Invalidf("password", "the password is too long")
	}
	return nil
}

// Hash returns the text to store for a password (PHC format). It waits up to 8 seconds for a slot, else it returns
// ErrBusy.
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

// HashNew is Hash for a password that a person chooses. It returns the Invalid faults of CheckNewPassword.
func (p *Passwords) HashNew(ctx context.Context, password string) (string, error) {
	if err := CheckNewPassword(password); err != nil {
		return "", err
	}
	return p.Hash(ctx, password)
}

// Check reports whether hash is the hash of password. An empty or unreadable hash matches nothing and takes as long as
// a real one, so that the time does not reveal whether an account exists.
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
		return nil, &fault.Error{Kind: ErrBusy.Kind, Message: ErrBusy.Message, RetryAfter: ErrBusy.RetryAfter,
			Err: errors.Join(ErrBusy, ctx.Err())}
	}
	return argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey), nil
}

func encodeHash(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

// decodeHash accepts only what encodeHash writes with the present cost. If the cost changes, decodeHash must also
// accept the old one.
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
