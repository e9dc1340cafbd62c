package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// LinkLife is the default lifetime of a link.
const LinkLife = 7 * 24 * time.Hour

// maxToken is the largest token, in bytes, that Verify reads.
const maxToken = 512

// Purpose is what a link may be used for. A link has one purpose.
type Purpose string

const (
	// Acknowledge links let the person acknowledge the incident.
	Acknowledge Purpose = "ack"
	// Voice links let the vendor fetch the text of a call.
	Voice Purpose = "voice"
)

// The errors of links. Their texts are shown to the person who opened the link.
var (
	ErrLinkInvalid = fault.New(fault.Invalid, "this link is not valid")
	ErrLinkExpired = fault.New(fault.Invalid, "this link has expired")
)

// Link is the content of a signed link.
type Link struct {
	Purpose    Purpose
	IncidentID int64 // 0 = the message is a digest: the link is for all its incidents
	MessageID  int64
	UserID     users.ID // the person that the link acts for; 0 = none (a literal recipient)
	ExpiresAt  time.Time
}

// Links signs links and verifies them. It is safe for concurrent use.
type Links struct{ key []byte }

// Sign returns the token of a link. The token is safe in a URL path. ExpiresAt is required: Verify refuses a link
// without it.
func (l *Links) Sign(link Link) string {
	payload := []byte{1, byte(len(link.Purpose))}
	payload = append(payload, link.Purpose...)
	for _, n := range []int64{link.IncidentID, link.MessageID, int64(link.UserID), link.ExpiresAt.Unix()} {
		payload = binary.AppendVarint(payload, n)
	}
	return base64.RawURLEncoding.EncodeToString(append(payload, l.mac(payload)...))
}

// Verify returns the link of a token that this installation signed for the purpose. An expired link is returned
// together with ErrLinkExpired, so that the page can name the incident. Every other failure is ErrLinkInvalid.
func (l *Links) Verify(token string, purpose Purpose, now time.Time) (Link, error) {
	if len(token) > maxToken {
		return Link{}, ErrLinkInvalid
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) <= sha256.Size {
		return Link{}, ErrLinkInvalid
	}
	payload, mac := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	if !hmac.Equal(mac, l.mac(payload)) {
		return Link{}, ErrLinkInvalid
	}
	link, ok := parseLink(payload)
	if !ok || link.Purpose != purpose {
		return Link{}, ErrLinkInvalid
	}
	if !now.Before(link.ExpiresAt) {
		return link, ErrLinkExpired
	}
	return link, nil
}

func (l *Links) mac(payload []byte) []byte {
	return keyedHash(l.key, string(payload))
}

func parseLink(payload []byte) (Link, bool) {
	if len(payload) < 2 || payload[0] != 1 || len(payload) < 2+int(payload[1]) {
		return Link{}, false
	}
	end := 2 + int(payload[1])
	link := Link{Purpose: Purpose(payload[2:end])}
	rest := payload[end:]
	var numbers [4]int64
	for i := range numbers {
		n, size := binary.Varint(rest)
		if size <= 0 {
			return Link{}, false
		}
		numbers[i], rest = n, rest[size:]
	}
	link.IncidentID, link.MessageID, link.UserID = numbers[0], numbers[1], users.ID(numbers[2])
	link.ExpiresAt = time.Unix(numbers[3], 0).UTC()
	return link, len(rest) == 0
}
