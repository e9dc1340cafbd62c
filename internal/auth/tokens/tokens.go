package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Limits of tokens.
const (
	MaxLife   = 366 * 24 * time.Hour // the longest life that an installation may allow
	MaxKept   = 50                   // tokens of one person, and service tokens of one team or of the administrators
	maxName   = 100                  // characters
	maxScopes = 5
)

// usualLife is the life of a token whose request names none, if the installation allows it.
const usualLife = 90 * 24 * time.Hour

// UsualLife returns the life of a token whose request names none. most is the longest life that the installation
// allows.
func UsualLife(most time.Duration) time.Duration { return min(usualLife, most) }

// Kind is the prefix of a token. It says for whom the token stands.
type Kind string

// The kinds of tokens.
const (
	Personal   Kind = "iris_p_" // a person
	ForService Kind = "iris_s_" // a program of a team or of the administrators
	// ForDirectory tokens are for SCIM only.
	ForDirectory Kind = "iris_d_"
)

// The format: the prefix, 43 random characters (256 bits), and the CRC-32 of what comes before as 8 hexadecimal digits.
const (
	randomChars = 43
	sumChars    = 8
	alphabet    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// ErrInvalid is the refusal of a token that is malformed, unknown, expired or revoked, or whose person or team is not
// active. The text is the same for all, so that a caller does not learn which.
var ErrInvalid = fault.New(fault.Unauthenticated, "this token is not valid: it may be expired or revoked")

// ID is the number of a token.
type ID int64

// Token is a personal token without its secret.
type Token struct {
	ID         ID         `json:"id"`
	User       users.ID   `json:"-"`
	UserName   string     `json:"user"`
	Name       string     `json:"name"`
	Scopes     Scopes     `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"Exact to about one minute; null = never."`
}

// Service is a service token without its secret. It belongs to a team or to the administrators, and to no person: it
// stays valid when the person who created it leaves, and ends with its team.
type Service struct {
	ID         ID             `json:"id"`
	TeamID     int64          `json:"-"` // 0 = it belongs to the administrators
	Team       operation.Text `json:"team" doc:"null = it belongs to the administrators."`
	Name       string         `json:"name"`
	Scopes     Scopes         `json:"scopes"`
	CreatedBy  string         `json:"created_by"`
	CreatedAt  time.Time      `json:"created_at"`
	ExpiresAt  time.Time      `json:"expires_at"`
	LastUsedAt *time.Time     `json:"last_used_at" doc:"Exact to about one minute; null = never."`
}

// String names the token for timelines and the audit log.
func (s Service) String() string {
	if s.TeamID == 0 {
		return "service token " + s.Name + " of the administrators"
	}
	return "service token " + s.Name + " of team " + string(s.Team)
}

// Content is what a person chooses for a new token.
type Content struct {
	Name   string
	Scopes Scopes
	Life   time.Duration
}

// Check returns an Invalid fault that names the field if the content cannot be stored. most is the longest life that
// the installation allows.
func (c Content) Check(most time.Duration) error {
	if err := checkName(c.Name, c.Scopes); err != nil {
		return err
	}
	if c.Life < time.Second || c.Life > most {
		return fault.Invalidf("expires_in_seconds", "expires_in_seconds must be between 1 and %d",
			int64(most/time.Second))
	}
	return nil
}

func checkName(name string, s Scopes) error {
	if strings.TrimSpace(name) == "" || len([]rune(name)) > maxName {
		return fault.Invalidf("name", "name must have 1 to %d characters", maxName)
	}
	if len(s) == 0 {
		return fault.Invalidf("scopes", "scopes must name at least one of %s", allScopes)
	}
	return nil
}

// Make returns a new random secret.
func Make(k Kind) string {
	var b strings.Builder
	b.WriteString(string(k))
	random := make([]byte, 1)
	for b.Len() < len(k)+randomChars {
		_, _ = rand.Read(random) // crypto/rand never fails
		if n := int(random[0]) % 64; n < len(alphabet) {
			b.WriteByte(alphabet[n])
		}
	}
	return b.String() + sum(b.String())
}

// Hash returns the kind of a secret and its SHA-256; only the hash is stored. It returns ErrInvalid if the secret does
// not have the format.
func Hash(secret string) (Kind, []byte, error) {
	body := len(Personal) + randomChars
	if len(secret) != body+sumChars || secret[body:] != sum(secret[:body]) {
		return "", nil, ErrInvalid
	}
	kind := Kind(secret[:len(Personal)])
	if kind != Personal && kind != ForService && kind != ForDirectory {
		return "", nil, ErrInvalid
	}
	hash := sha256.Sum256([]byte(secret))
	return kind, hash[:], nil
}

// sum returns the CRC-32 of s. With it a scanner recognises a token without asking Iris.
func sum(s string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(s)))
}
