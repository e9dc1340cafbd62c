package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// CodeLife is how long the code of a grant is valid.
const CodeLife = time.Minute

// ErrGrant is the refusal of a code that is unknown, expired or used, or that came with a wrong verifier. The text is
// the same for all.
var ErrGrant = fault.New(fault.Unauthenticated, "this code is not valid: it may be expired or used; log in again")

// Grant is a token that a person allowed to a command line. The command line gets a code through the browser, and
// exchanges the code and its verifier for the token. The browser never has the verifier, so that the code is useless to
// others (PKCE, RFC 7636).
type Grant struct {
	User      users.ID
	UserName  string
	Name      string // of the token
	Scopes    Scopes
	Challenge string // SHA-256 of the verifier in base64url
}

// Check returns an Invalid fault that names the field if the grant cannot be stored.
func (g Grant) Check() error {
	if err := checkName(g.Name, g.Scopes); err != nil {
		return err
	}
	if hash, err := base64.RawURLEncoding.DecodeString(g.Challenge); err != nil || len(hash) != sha256.Size || len(g.Challenge) != challengeChars {
		return fault.Invalidf("challenge", "challenge must be the SHA-256 of the verifier in base64url, %d characters",
			challengeChars)
	}
	return nil
}

// Confirm returns ErrGrant if the challenge was not made from the verifier.
func (g Grant) Confirm(verifier string) error {
	const shortest, longest = 43, 128
	if len(verifier) < shortest || len(verifier) > longest {
		return ErrGrant
	}
	hash := sha256.Sum256([]byte(verifier))
	if subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(hash[:])), []byte(g.Challenge)) == 0 {
		return ErrGrant
	}
	return nil
}

const challengeChars = 43

// MakeCode returns a new random code of at least 128 bits.
func MakeCode() string { return rand.Text() }

// HashCode returns the SHA-256 of a code; only the hash is stored.
func HashCode(code string) []byte {
	hash := sha256.Sum256([]byte(strings.TrimSpace(code)))
	return hash[:]
}
