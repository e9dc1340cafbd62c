package wire

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/alexedwards/scs/v2"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Keys of a session, in addition to userKey, which the server chooses.
const (
	sessionUserID = "user_id"
	sessionEpoch  = "login_epoch"
	sessionCSRF   = "csrf_token"
)

// BeginSession makes u the user of the session of ctx. It changes the session's token, so that a token that an attacker set before
// the log-in is useless. It returns the session's CSRF token: 128 random bits as hexadecimal digits. userKey is the session key of
// the user's name.
func BeginSession(ctx context.Context, sessions *scs.SessionManager, userKey string, u users.User) (csrf string, err error) {
	if err := sessions.RenewToken(ctx); err != nil {
		return "", err
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // crypto/rand never fails
	csrf = hex.EncodeToString(random)
	sessions.Put(ctx, userKey, u.Name)
	sessions.Put(ctx, sessionUserID, int64(u.ID))
	sessions.Put(ctx, sessionEpoch, u.LoginEpoch)
	sessions.Put(ctx, sessionCSRF, csrf)
	return csrf, nil
}

// SessionUser returns the user of the session of ctx. ok is false without a log-in, and if the person was deleted, was switched off
// or got another password after the log-in.
func SessionUser(ctx context.Context, sessions *scs.SessionManager, userKey string, people People) (u users.User, ok bool, err error) {
	name := sessions.GetString(ctx, userKey)
	if name == "" {
		return users.User{}, false, nil
	}
	u, err = people.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return users.User{}, false, nil
	}
	if err != nil {
		return users.User{}, false, err
	}
	if !u.Active || sessions.GetInt64(ctx, sessionUserID) != int64(u.ID) || sessions.GetInt(ctx, sessionEpoch) != u.LoginEpoch {
		return users.User{}, false, nil
	}
	return u, true, nil
}

// SessionToken returns the CSRF token of the session of ctx, which scripts of pages send with changes; "" without a log-in.
func SessionToken(ctx context.Context, sessions *scs.SessionManager) string {
	return sessions.GetString(ctx, sessionCSRF)
}
