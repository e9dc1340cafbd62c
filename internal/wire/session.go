package wire

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/alexedwards/scs/v2"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// What a session holds besides the user's name, which is under a key that the server chooses.
const (
	sessionUserID = "user_id"
	sessionEpoch  = "login_epoch"
	sessionCSRF   = "csrf_token"
)

// BeginSession stores u as the user of the session of ctx, under a new token, so that a token that an attacker set before the
// log-in is useless. It returns the session's CSRF token: 128 random bits as hexadecimal digits. userKey is the key of the name.
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

// SessionUser returns the user of the session of ctx. ok is false without a log-in, and when the person was deleted, was
// switched off or got another password since.
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

// SessionToken returns the CSRF token of the session of ctx, for pages whose scripts send it along; "" without a log-in.
func SessionToken(ctx context.Context, sessions *scs.SessionManager) string {
	return sessions.GetString(ctx, sessionCSRF)
}
