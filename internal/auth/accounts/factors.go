package accounts

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"image/png"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	period         = 30 // seconds that a code is for
	recoveryCodes  = 10
	recoveryLength = 10 // characters of base32: 50 bits
	freeFailures   = 5  // wrong codes in a row without a pause
	firstPause     = 30 * time.Second
	longestPause   = time.Hour
	picture        = 240 // side of the QR code in pixels
	maxCode        = 64
)

// Factors checks second factors and sets them up. It is safe for concurrent use.
type Factors struct {
	store  FactorStore
	keys   Keys
	policy Policy
	issuer string // name of the installation in the person's authenticator
	now    func() time.Time
}

// NewFactors returns the second factors of an installation. issuer is its name in authenticators.
func NewFactors(store FactorStore, keys Keys, policy Policy, issuer string) *Factors {
	return &Factors{store: store, keys: keys, policy: policy, issuer: issuer, now: time.Now}
}

// At returns the second factors at another time, for tests.
func (f *Factors) At(now func() time.Time) *Factors {
	c := *f
	c.now = now
	return &c
}

// State is what a person's page shows.
type State struct {
	On       bool
	Required bool // by the policy
	Since    time.Time
	Recovery int // recovery codes that are left
}

// State returns the state of a person's second factor.
func (f *Factors) State(ctx context.Context, u users.User) (State, error) {
	out := State{Required: f.policy.Requires(u)}
	found, err := f.store.Factor(ctx, u.ID)
	if fault.Is(err, fault.NotFound) {
		return out, nil
	}
	out.On, out.Since, out.Recovery = err == nil, found.CreatedAt, len(found.Recovery)
	return out, err
}

// Pending is a second factor that is not confirmed yet.
type Pending struct {
	Sealed []byte // what the caller keeps until the person confirms
	Secret string // base32, for typing
	URL    string // otpauth://, for an authenticator on the same device
	QR     []byte // PNG of the URL
}

// Begin makes the secret of a new second factor. Nothing is stored before Confirm.
func (f *Factors) Begin(u users.User) (Pending, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: f.issuer, AccountName: u.Name})
	if err != nil {
		return Pending{}, fmt.Errorf("make the secret of a second factor: %w", err)
	}
	return f.shown(f.keys.Seal([]byte(key.String()), about(u)), key)
}

// Resume returns the pending second factor of an earlier Begin for the same person.
func (f *Factors) Resume(u users.User, sealed []byte) (Pending, error) {
	key, err := f.open(u, sealed)
	if err != nil {
		return Pending{}, err
	}
	return f.shown(sealed, key)
}

func (f *Factors) shown(sealed []byte, key *otp.Key) (Pending, error) {
	drawn, err := key.Image(picture, picture)
	if err != nil {
		return Pending{}, fmt.Errorf("draw the QR code of a second factor: %w", err)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, drawn); err != nil {
		return Pending{}, fmt.Errorf("draw the QR code of a second factor: %w", err)
	}
	return Pending{Sealed: sealed, Secret: key.Secret(), URL: key.URL(), QR: b.Bytes()}, nil
}

func (f *Factors) open(u users.User, sealed []byte) (*otp.Key, error) {
	plain, err := f.keys.Unseal(sealed, about(u))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "the second factor of "+u.Name+" cannot be read")
	}
	return otp.NewKeyFromURL(string(plain))
}

// Confirm stores a pending second factor if the code is right, and returns the recovery codes. They cannot be read
// again. A wrong code is ErrCode.
func (f *Factors) Confirm(ctx context.Context, u users.User, sealed []byte, code string) ([]string, error) {
	key, err := f.open(u, sealed)
	if err != nil {
		return nil, err
	}
	step, ok := matches(key.Secret(), plain(code), 0, f.now())
	if !ok {
		return nil, ErrCode
	}
	codes, hashes := f.newRecovery(u)
	return codes, f.store.Save(ctx, u, Factor{Secret: sealed, LastStep: step, Recovery: hashes}, u.Name)
}

// NewRecovery replaces the recovery codes and returns the new ones.
func (f *Factors) NewRecovery(ctx context.Context, u users.User) ([]string, error) {
	codes, hashes := f.newRecovery(u)
	return codes, f.store.SetRecovery(ctx, u, hashes, u.Name)
}

func (f *Factors) newRecovery(u users.User) (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		code := rand.Text()[:recoveryLength]
		codes = append(codes, code[:recoveryLength/2]+"-"+code[recoveryLength/2:])
		hashes = append(hashes, f.recoveryHash(u, code))
	}
	return codes, hashes
}

func (f *Factors) recoveryHash(u users.User, code string) []byte {
	return f.keys.HashCode(code, fmt.Sprintf("recovery code of user %d", u.ID))
}

// Check accepts a code of the authenticator or a recovery code, each once. A wrong code is ErrCode. After five wrong
// codes in a row the person must wait, longer each time, up to an hour: a Throttled fault.
func (f *Factors) Check(ctx context.Context, u users.User, code string) error {
	code = plain(code)
	tried, err := f.store.Try(ctx, u.ID, func(now Factor) (Tried, error) { return f.judge(u, now, code) })
	if err == nil && !tried.Right {
		return ErrCode
	}
	return err
}

func (f *Factors) judge(u users.User, factor Factor, code string) (Tried, error) {
	now := f.now()
	if wait := factor.RetryAt.Sub(now); wait > 0 {
		return Tried{}, &fault.Error{Kind: fault.Throttled, Message: "too many wrong codes",
			RetryAfter: max(wait, time.Second)}
	}
	key, err := f.open(u, factor.Secret)
	if err != nil {
		return Tried{}, err
	}
	if step, ok := matches(key.Secret(), code, factor.LastStep, now); ok {
		return Tried{Right: true, LastStep: step}, nil
	}
	hash := f.recoveryHash(u, code)
	if slices.ContainsFunc(factor.Recovery, func(left []byte) bool { return bytes.Equal(left, hash) }) {
		return Tried{Right: true, LastStep: factor.LastStep, UsedRecovery: hash}, nil
	}
	out := Tried{LastStep: factor.LastStep, Failures: factor.Failures + 1}
	if over := out.Failures - freeFailures; over >= 0 {
		out.RetryAt = now.Add(min(longestPause, firstPause<<min(over, 10)))
	}
	return out, nil
}

// Remove removes the second factor of a person for that person. If the policy requires one, it returns ErrRequired.
func (f *Factors) Remove(ctx context.Context, u users.User) error {
	if f.policy.Requires(u) {
		return ErrRequired
	}
	return f.store.Remove(ctx, u, u.Name)
}

// RemoveOf removes the second factor of a person for an administrator. If the policy requires one, the person sets up a
// new one at the next log-in.
func (f *Factors) RemoveOf(ctx context.Context, u users.User, by string) error {
	return f.store.Remove(ctx, u, by)
}

// matches returns the step for which the code is right: the present one, the one before or the one after, but none that
// is not newer than last.
func matches(secret, code string, last int64, now time.Time) (step int64, ok bool) {
	for _, at := range [...]time.Time{now.Add(-period * time.Second), now, now.Add(period * time.Second)} {
		right, err := totp.ValidateCustom(code, secret, at, totp.ValidateOpts{Period: period, Skew: 0,
			Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if step := at.Unix() / period; err == nil && right && step > last {
			return step, true
		}
	}
	return 0, false
}

// plain returns a code without the spaces and hyphens that people type, in upper case.
func plain(code string) string {
	if len(code) > maxCode {
		return ""
	}
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\t' {
			return -1
		}
		return r
	}, code))
}

func about(u users.User) string { return fmt.Sprintf("second factor of user %d", u.ID) }
