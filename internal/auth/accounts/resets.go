package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// ResetLife is how long the link of a password reset works.
const ResetLife = 30 * time.Minute

// ErrLink refuses a link that was used, has expired or never was one.
var ErrLink = fault.New(fault.NotFound, "this link is not valid: it was used, is too old, or was replaced")

// Addressee is a person and the e-mail contact that gets a mail.
type Addressee struct {
	User    users.User
	Address string
}

// ResetStore stores the links of password resets by the hashes of their tokens.
type ResetStore interface {
	// Add stores a link for the person with that name or verified e-mail contact. Nobody who may reset a password, and
	// somebody who asked too often, is a NotFound fault. by is the author in the audit log; "" = nobody has logged in,
	// and there is no entry.
	Add(ctx context.Context, login string, hash []byte, life time.Duration, by string) (Addressee, error)
	// Find returns the person of a valid link, else ErrLink.
	Find(ctx context.Context, hash []byte) (Addressee, error)
	// Use stores the new password, ends the sessions, and makes the link void; ErrLink if it is not valid.
	Use(ctx context.Context, hash []byte, passwordHash string) (Addressee, error)
}

// Mailer sends mails through the queue. The body must have no secret in clear: others can read it there.
type Mailer interface {
	Send(ctx context.Context, to, subject, body string, life time.Duration) error
}

// Sealer hides a secret in a stored text from everybody but the recipient.
type Sealer interface {
	SealForRecipient(secret, destination string) string
}

// Hasher checks and hashes the passwords that people choose.
type Hasher interface {
	// HashNew returns an Invalid fault for a password that breaks the rules.
	HashNew(ctx context.Context, password string) (string, error)
}

// Resets lets people who forgot their password set a new one. It is safe for concurrent use.
type Resets struct {
	Store     ResetStore
	Mail      Mailer
	Keys      Sealer
	Passwords Hasher
	PublicURL string // without a final slash
}

// Ask sends a link to the person with that name or address. Without such a person it does nothing, and returns nil too.
func (r Resets) Ask(ctx context.Context, login string) error {
	if err := r.send(ctx, login, "Somebody asked", ""); !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

// SendTo sends a link to a person for an administrator. A person who cannot set a password with a link is a Conflict
// fault.
func (r Resets) SendTo(ctx context.Context, u users.User, by string) error {
	return fault.When(r.send(ctx, u.Name, "An administrator asked", by), fault.NotFound, fault.Newf(fault.Conflict,
		"%s gets no link: the person needs to be active, with a password of Iris and a verified e-mail contact, and not too many links lately", u.Name))
}

func (r Resets) send(ctx context.Context, login, why, by string) error {
	token := newToken()
	to, err := r.Store.Add(ctx, login, hashToken(token), ResetLife, by)
	if err != nil {
		return err
	}
	return r.Mail.Send(ctx, to.Address, "Iris: set a new password", why+" for a new password of your account "+
		to.User.Name+
		". To set one, open this link within 30 minutes. It works once.\n\n"+r.PublicURL+"/login/password/"+
		r.Keys.SealForRecipient(token, to.Address)+
		"\n\nIf you did not ask for it, ignore this mail: your password stays as it is.", ResetLife)
}

// Person returns the person of a valid link, else ErrLink.
func (r Resets) Person(ctx context.Context, token string) (users.User, error) {
	found, err := r.Store.Find(ctx, hashToken(token))
	return found.User, err
}

// Set stores the new password of a link's person. The sessions end; personal tokens and the second factor stay. A
// password that breaks the rules is an Invalid fault, and the link stays valid. The caller then calls Inform.
func (r Resets) Set(ctx context.Context, token, password string) (Addressee, error) {
	if found, err := r.Store.Find(ctx, hashToken(token)); err != nil { // before the costly hash
		return found, err
	}
	hash, err := r.Passwords.HashNew(ctx, password)
	if err != nil {
		return Addressee{}, err
	}
	return r.Store.Use(ctx, hashToken(token), hash)
}

// Inform informs a person by mail that the password was changed.
func (r Resets) Inform(ctx context.Context, of Addressee) error {
	return r.Mail.Send(ctx, of.Address, "Iris: your password was changed", "The password of your account "+of.User.Name+
		" was changed with a link that was sent to this address. All sessions have ended. The page "+r.PublicURL+
		"/tokens shows your personal tokens and ends them.\n\nIf this was not you, ask an administrator to switch the account off.", 24*time.Hour)
}

// newToken returns the secret of a link: 260 random bits.
func newToken() string { return rand.Text() + rand.Text() }

func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
