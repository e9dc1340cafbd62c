package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/iris-oncall/iris/internal/fault"
)

const (
	// SecretSize is the length of the installation secret in bytes.
	SecretSize = 32
	// MinSecretKey is the length in characters below which a configured wrapping key is refused.
	MinSecretKey = 32
	keySize      = 32
)

// ErrSealed reports sealed data that the present keys do not open: another installation's, or altered.
var ErrSealed = errors.New("sealed data does not belong to this installation, or was altered")

// Keys derives the keys of an installation from its secret, one per purpose, so that none can be used for another's.
// It is immutable and safe for concurrent use.
type Keys struct {
	sealing   cipher.AEAD
	links     []byte
	gossip    []byte
	codes     []byte
	feeds     []byte
	addresses []byte
}

// NewKeys derives all keys. secret must be SecretSize bytes.
func NewKeys(secret []byte) (*Keys, error) {
	if len(secret) != SecretSize {
		return nil, fault.Newf(fault.Internal, "installation secret has %d bytes, want %d", len(secret), SecretSize)
	}
	sealing, err := newAEAD(secret, "iris/sealing/1")
	if err != nil {
		return nil, err
	}
	links, err := derive(secret, "iris/links/1")
	if err != nil {
		return nil, err
	}
	gossip, err := derive(secret, "iris/gossip/1")
	if err != nil {
		return nil, err
	}
	codes, err := derive(secret, "iris/codes/1")
	if err != nil {
		return nil, err
	}
	feeds, err := derive(secret, "iris/feeds/1")
	if err != nil {
		return nil, err
	}
	addresses, err := derive(secret, "iris/addresses/1")
	if err != nil {
		return nil, err
	}
	return &Keys{sealing: sealing, links: links, gossip: gossip, codes: codes, feeds: feeds, addresses: addresses}, nil
}

// Seal encrypts a secret that must be read back. about binds it to what it belongs to ("application 12 primary"):
// Unseal needs the same text, so that a sealed value cannot be moved to another row.
func (k *Keys) Seal(plain []byte, about string) []byte { return seal(k.sealing, plain, about) }

// Unseal decrypts what Seal made, or returns ErrSealed.
func (k *Keys) Unseal(sealed []byte, about string) ([]byte, error) {
	return unseal(k.sealing, sealed, about)
}

// FeedKeyHash is the keyed hash by which the key of a calendar feed is looked up. Without the installation secret nobody can
// compute it or get the key from it.
func (k *Keys) FeedKeyHash(key string) string {
	mac := hmac.New(sha256.New, k.feeds)
	mac.Write([]byte(key))
	return "sealed:" + hex.EncodeToString(mac.Sum(nil))
}

// AddressHash is the keyed hash under which a network address is stored. Without the installation secret nobody can compute it,
// although there are few enough addresses to try them all.
func (k *Keys) AddressHash(address string) []byte {
	mac := hmac.New(sha256.New, k.addresses)
	mac.Write([]byte(address))
	return mac.Sum(nil)
}

// Gossip is the key that encrypts gossip between members when none is configured.
func (k *Keys) Gossip() []byte { return append([]byte(nil), k.gossip...) }

// Links signs and verifies links with the installation's link key.
func (k *Keys) Links() *Links { return &Links{key: k.links} }

// WrapSecret encrypts an installation secret with the operator's own key (IRIS_SECRET_KEY), for storage.
func WrapSecret(secretKey string, secret []byte) ([]byte, error) {
	a, err := wrapping(secretKey)
	if err != nil {
		return nil, err
	}
	return seal(a, secret, "installation secret"), nil
}

// UnwrapSecret is the reverse of WrapSecret.
func UnwrapSecret(secretKey string, wrapped []byte) ([]byte, error) {
	a, err := wrapping(secretKey)
	if err != nil {
		return nil, err
	}
	return unseal(a, wrapped, "installation secret")
}

func wrapping(secretKey string) (cipher.AEAD, error) {
	if len(secretKey) < MinSecretKey {
		return nil, fault.Invalidf("secret_key", "the secret key must have at least %d characters; make one with: openssl rand -base64 32", MinSecretKey)
	}
	return newAEAD([]byte(secretKey), "iris/wrapping/1")
}

func derive(secret []byte, purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, purpose, keySize)
}

func newAEAD(secret []byte, purpose string) (cipher.AEAD, error) {
	key, err := derive(secret, purpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func seal(a cipher.AEAD, plain []byte, about string) []byte {
	return a.Seal(nil, nil, plain, []byte(about))
}

func unseal(a cipher.AEAD, sealed []byte, about string) ([]byte, error) {
	plain, err := a.Open(nil, nil, sealed, []byte(about))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// NewApplicationKey makes an application key: 64 random hexadecimal digits.
func NewApplicationKey() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}
