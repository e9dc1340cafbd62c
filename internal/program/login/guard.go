package login

import (
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// limits slow down wrong passwords.
var limits = auth.AttemptLimits{
	FreeOfPair: 5, FreeOfKnown: 50, FreeOfAccount: 50, AddressPerMinute: 60,
	Longest: time.Minute,
}

// maxAccount is how much of an account's name is counted, in bytes.
const maxAccount = 255

func attempt(address, name string) auth.Attempt {
	account := users.CanonicalName(name)
	return auth.Attempt{Address: address, Account: account[:min(len(account), maxAccount)]}
}

// NoteClient puts the client's address and browser into the context of a request that may begin a session, for the
// limits on attempts and for lists of sessions.
func NoteClient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" || strings.HasPrefix(r.URL.Path, "/login/") || strings.HasPrefix(r.URL.Path, "/account/") || strings.HasPrefix(r.URL.Path, "/invitation/") {
			address, _ := wire.ByAddress(r)
			r = r.WithContext(wire.WithClient(r.Context(), wire.Client{Address: address, Agent: r.UserAgent()}))
		}
		next.ServeHTTP(w, r)
	})
}
