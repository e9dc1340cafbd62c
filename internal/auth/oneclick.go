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

// minOneClickKey is the shortest key that signs addresses for Gmail, in characters.
const minOneClickKey = 16

// OneClick signs the addresses behind Gmail's button in incident mails, and verifies them (docs/reference/iris-v0.md 8). Anybody
// with such an address may claim the incident of that one message for the owner of the e-mail address. It is safe for
// concurrent use.
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
		return nil, fmt.Errorf("the endpoint of Gmail's one-click button is not a URL")
	}
	return &OneClick{key: []byte(key), endpoint: endpoint}, nil
}

// URL is the address that does cmd with a message in the name of an e-mail address, until expires.
func (o *OneClick) URL(messageID int64, email, cmd string, expires time.Time) string {
	id, until := strconv.FormatInt(messageID, 10), strconv.FormatInt(expires.Unix(), 10)
	return o.endpoint + "?" + url.Values{
		"msg_id": {id}, "email_address": {email}, "cmd": {cmd}, "expires": {until}, "token": {o.token(id, email, cmd, until)},
	}.Encode()
}

// Verify checks the values of such an address: ErrLinkInvalid when they were not signed here, ErrLinkExpired when it is too late.
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
