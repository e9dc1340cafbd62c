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
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

const (
	// SecretSize is the length of the installation secret in bytes.
	SecretSize = 32
	// MinSecretKey is the length in characters below which a configured wrapping key is refused.
	MinSecretKey = 32
	keySize      = 32
)

// ErrSealed means that sealed data cannot be decrypted: another installation sealed it, or it was altered.
var ErrSealed = errors.New("sealed data belongs to another installation, or was altered")

// Keys are the keys of an installation, derived from its secret: one for each purpose, so that a key cannot be used for
// another purpose. Keys is immutable and safe for concurrent use.
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
	k := &Keys{sealing: sealing}
	for purpose, key := range map[string]*[]byte{
		"iris/links/1": &k.links, "iris/gossip/1": &k.gossip, "iris/codes/1": &k.codes, "iris/feeds/1": &k.feeds, "iris/addresses/1": &k.addresses,
	} {
		if *key, err = derive(secret, purpose); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Seal encrypts a secret that must be read again. about names the secret's owner ("application 12 primary"). Unseal
// needs the same text, so that a sealed value cannot be moved to another row.
func (k *Keys) Seal(plain []byte, about string) []byte { return seal(k.sealing, plain, about) }

// Unseal decrypts a value that Seal returned. It returns ErrSealed if that is not possible.
func (k *Keys) Unseal(sealed []byte, about string) ([]byte, error) {
	return unseal(k.sealing, sealed, about)
}

// FeedKeyHash returns the keyed hash under which the key of a calendar feed is stored. It cannot be computed or
// reversed without the installation secret.
func (k *Keys) FeedKeyHash(key string) string {
	return "sealed:" + hex.EncodeToString(keyedHash(k.feeds, key))
}

// AddressHash returns the keyed hash under which a network address is stored. Without a key, an attacker could find the
// address by hashing all addresses.
func (k *Keys) AddressHash(address string) []byte {
	return keyedHash(k.addresses, address)
}

func keyedHash(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// Gossip returns the default key that encrypts gossip between members.
func (k *Keys) Gossip() []byte { return append([]byte(nil), k.gossip...) }

// Links returns a signer and verifier of links.
func (k *Keys) Links() *Links { return &Links{key: k.links} }

// WrapSecret encrypts an installation secret for storage, with the operator's own key (IRIS_SECRET_KEY).
func WrapSecret(secretKey string, secret []byte) ([]byte, error) {
	a, err := wrapping(secretKey)
	if err != nil {
		return nil, err
	}
	return seal(a, secret, "installation secret"), nil
}

// UnwrapSecret is the reverse of WrapSecret. A wrong secretKey is ErrSealed; one that is too short is an Invalid fault.
func UnwrapSecret(secretKey string, wrapped []byte) ([]byte, error) {
	a, err := wrapping(secretKey)
	if err != nil {
		return nil, err
	}
	return unseal(a, wrapped, "installation secret")
}

func wrapping(secretKey string) (cipher.AEAD, error) {
	if len(secretKey) < MinSecretKey {
		return nil, fault.Invalidf("secret_key",
			"the secret key must have at least %d characters; make one with: openssl rand -base64 32", MinSecretKey)
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

// sealedMark and hexadecimal digits replace a secret in a stored text. Only the recipient gets the secret.
const sealedMark = "iris-sealed-"

var sealedText = regexp.MustCompile(sealedMark + "[0-9a-f]{56,512}")

// SealForRecipient returns a mark that replaces a secret in a stored text. RevealTo restores the secret for this
// destination only, so a mark that is copied into another message reveals nothing.
func (k *Keys) SealForRecipient(secret, destination string) string {
	return sealedMark + hex.EncodeToString(k.Seal([]byte(secret), "for "+destination))
}

// RevealTo restores the secrets in a text that were sealed for the destination. Other marks stay.
func (k *Keys) RevealTo(text, destination string) string {
	if !strings.Contains(text, sealedMark) {
		return text
	}
	return sealedText.ReplaceAllStringFunc(text, func(mark string) string {
		sealed, err := hex.DecodeString(mark[len(sealedMark):])
		if err != nil {
			return mark
		}
		secret, err := k.Unseal(sealed, "for "+destination)
		if err != nil {
			return mark
		}
		return string(secret)
	})
}

// HashCode returns the keyed hash of a short code, for storage. Without a key, an attacker could find the code by
// hashing all codes.
func (k *Keys) HashCode(code, purpose string) []byte {
	return keyedHash(k.codes, purpose+"\x00"+code)
}
