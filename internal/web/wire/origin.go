package wire

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/audit"
)

// RequestIDHeader is the header of answers with the id of the request, which the audit log and log lines name too.
const RequestIDHeader = "X-Iris-Request-Id"

// NoteOrigin gives each request an id, and puts id and address of the client into the context for the audit log.
// RemoteAddr must be the address of the client.
func NoteOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		random := make([]byte, 12)
		_, _ = rand.Read(random) // crypto/rand never fails
		id := hex.EncodeToString(random)
		w.Header().Set(RequestIDHeader, id)
		address, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			address = r.RemoteAddr
		}
		next.ServeHTTP(w, r.WithContext(audit.With(r.Context(),
			audit.Origin{Kind: audit.Nobody, Address: address, Request: id})))
	})
}
