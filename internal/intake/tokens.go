package intake

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// NewToken returns a random token in the form that the clients of a type accept: 32 hexadecimal digits for PagerDuty, a
// UUID for Opsgenie, else a text that begins with iris_in_.
func NewToken(kind string) string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	switch kind {
	case PagerDuty:
		return hex.EncodeToString(b[:16])
	case Opsgenie:
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4, variant of RFC 9562
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
	}
	return "iris_in_" + hex.EncodeToString(b[:])
}

// Hash returns the form in which a token is stored. Tokens are random, so the hash needs no salt.
func Hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Address returns the path that deliveries of an integration are sent to. Senders that can set no header use withToken;
// for Email this is an address of a mailbox.
func Address(kind, token string) (path, withToken string) {
	switch kind {
	case PagerDuty:
		return "/v2/enqueue", ""
	case Opsgenie:
		return "/v2/alerts", ""
	case Email:
		return "/v1/hooks/email", token + "@DOMAIN"
	}
	return "/v1/hooks/" + kind, "/v1/hooks/" + kind + "/" + token
}
