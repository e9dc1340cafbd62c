package auth

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// minOneClickKey is the minimum length of the key that signs addresses for Gmail, in characters.
const minOneClickKey = 16

// OneClick signs and verifies the addresses behind Gmail's button in incident mails (docs/reference/iris-v0.md 8).
// Anybody who has such an address may acknowledge the incident of its message in the name of the owner of the e-mail
// address. It is safe for concurrent use.
type OneClick struct {
	key      []byte
	endpoint string
}

// NewOneClick returns a signer of addresses at endpoint.
func NewOneClick(key, endpoint string) (*OneClick, error) {
	if len(key) < minOneClickKey {
		return nil, fmt.Errorf("the key of Gmail's one-click button must have at least %d characters", minOneClickKey)
	}
	if _, err := url.Parse(endpoint); err != nil || endpoint == "" {
		return nil, fmt.Errorf("the endpoint of Gmail's one-click button must be a URL")
	}
	return &OneClick{key: []byte(key), endpoint: endpoint}, nil
}

// URL returns an address that carries out cmd for a message until expires. It acts for the owner of the e-mail address.
func (o *OneClick) URL(messageID int64, email, cmd string, expires time.Time) string {
	id, until := strconv.FormatInt(messageID, 10), strconv.FormatInt(expires.Unix(), 10)
	return o.endpoint + "?" + url.Values{
		"msg_id": {id}, "email_address": {email}, "cmd": {cmd}, "expires": {until}, "token": {o.token(id, email, cmd,
			until)},
	}.Encode()
}

// Verify checks the query of such an address. It returns ErrLinkInvalid for a wrong signature and ErrLinkExpired after
// the address has expired.
func (o *OneClick) Verify(values url.Values, now time.Time) error {
	want := o.token(values.Get("msg_id"), values.Get("email_address"), values.Get("cmd"), values.Get("expires"))
	if !hmac.Equal([]byte(values.Get("token")), []byte(want)) {
		return ErrLinkInvalid
	}
	until, err := strconv.ParseInt(values.Get("expires"), 10, 64)
	switch {
	case err != nil:
		return ErrLinkInvalid
	case now.Unix() >= until:
		return ErrLinkExpired
	}
	return nil
}

func (o *OneClick) token(messageID, email, cmd, expires string) string {
	mac := hmac.New(sha512.New, o.key)
	_, _ = mac.Write([]byte(messageID + " " + email + " " + cmd + " " + expires))
	return base64.URLEncoding.EncodeToString(mac.Sum(nil))
}
