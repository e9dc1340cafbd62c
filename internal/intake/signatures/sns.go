package signatures

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// The limits of addresses that Iris opens. Certificates are kept for a day, because Amazon changes them rarely.
const (
	fetchTimeout     = 10 * time.Second
	maxFetched       = 64 << 10
	keepCertificates = 24 * time.Hour
	maxCertificates  = 100
)

// replayWindow is the greatest age of a message. SNS tries again for an hour at most.
const replayWindow = time.Hour + tolerance

// Fetch reads an address and returns the body. It follows no redirect.
type Fetch func(ctx context.Context, address string) ([]byte, error)

// certificate is a certificate of SNS.
type certificate struct {
	key         *rsa.PublicKey
	from, until time.Time
}

// snsMessage has the texts of a delivery of SNS by their exact names: the decoder reads the same members, so that
// nothing unsigned is used.
type snsMessage map[string]string

// signable are the members that SNS signs in any type of message. They are texts.
var signable = map[string]bool{"Message": true, "MessageId": true, "Subject": true, "SubscribeURL": true,
	"Timestamp": true, "Token": true, "TopicArn": true, "Type": true}

func readSNS(body []byte) (snsMessage, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil, false
	}
	m := snsMessage{}
	for name, raw := range members {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			m[name] = text
		} else if signable[name] {
			return nil, false // it is not part of the signed text, but the decoder would use it
		}
	}
	return m, true
}

// checkSNS checks a delivery of SNS and confirms a subscription. Without a check of signatures, no address is opened.
func (c *Checker) checkSNS(ctx context.Context, d Delivery) (text string, err error) {
	m, readable := readSNS(d.Body)
	if len(d.Settings.Topics) > 0 && !slices.Contains(d.Settings.Topics, m["TopicArn"]) {
		return "", refusedf("the topic %.300q is not among the topics of the integration", m["TopicArn"])
	}
	if d.Settings.Unsigned {
		if m["Type"] == "SubscriptionConfirmation" {
			text = "to confirm the subscription, open the SubscribeURL of this delivery"
		}
		return text, nil
	}
	if !readable || m["Signature"] == "" || strings.EqualFold(d.Header("X-Amz-Sns-Rawdelivery"), "true") {
		return "", refusedf("the delivery has no signature of SNS: switch raw delivery off, or set \"unsigned\": true in the settings")
	}
	if err := m.check(); err != nil {
		return "", err
	}
	if err := c.verify(ctx, m, d.At); err != nil {
		return "", err
	}
	if m["Type"] != "SubscriptionConfirmation" {
		return "", nil
	}
	if !amazons(m["SubscribeURL"], "") {
		return "", refusedf("the SubscribeURL is no address of SNS")
	}
	if _, err := c.fetch(ctx, m["SubscribeURL"]); err != nil {
		return "", fault.Wrap(fault.Unavailable, err,
			"the subscription cannot be confirmed: open the SubscribeURL of this delivery")
	}
	return "subscription of the topic " + m["TopicArn"] + " confirmed", nil
}

// check refuses messages whose signed text could also be that of another message: members are signed as lines of names
// and values.
func (m snsMessage) check() error {
	if !slices.Contains([]string{"Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"}, m["Type"]) {
		return refusedf("the Type %.100q is none of SNS", m["Type"])
	}
	for _, name := range m.signedNames() {
		if name != "Message" && name != "Subject" && strings.ContainsAny(m[name], "\r\n") {
			return refusedf("the %s of the message of SNS has a line break", name)
		}
	}
	return nil
}

// signedNames returns the names of the members that SNS signs, in their order.
func (m snsMessage) signedNames() []string {
	if m["Type"] == "Notification" {
		return []string{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
	}
	return []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
}

// verify checks the signature and the age of a message.
func (c *Checker) verify(ctx context.Context, m snsMessage, now time.Time) error {
	if !amazons(m["SigningCertURL"], ".pem") {
		return refusedf("the SigningCertURL is no address of a certificate of SNS")
	}
	cert, err := c.certificates.Get(ctx, m["SigningCertURL"], func(ctx context.Context) (*certificate, error) {
		raw, err := c.fetch(ctx, m["SigningCertURL"])
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err,
				"the certificate of SNS cannot be read: permit HTTPS to its host, or set \"unsigned\": true in the settings")
		}
		return parse(raw)
	})
	if err != nil {
		return err
	}
	if now.Before(cert.from) || now.After(cert.until) {
		return refusedf("the certificate of SNS is not valid now")
	}
	signature, err := base64.StdEncoding.DecodeString(m["Signature"])
	if err != nil {
		return refusedf("the signature of SNS is not base64")
	}
	signed := []byte(m.signed())
	var hash crypto.Hash
	var sum []byte
	switch m["SignatureVersion"] {
	case "1":
		s := sha1.Sum(signed)
		hash, sum = crypto.SHA1, s[:]
	case "2":
		s := sha256.Sum256(signed)
		hash, sum = crypto.SHA256, s[:]
	default:
		return refusedf("the version %.10q of the signature of SNS is unknown", m["SignatureVersion"])
	}
	if rsa.VerifyPKCS1v15(cert.key, hash, sum, signature) != nil {
		return refusedf("the signature of SNS is wrong")
	}
	sent, err := time.Parse(time.RFC3339Nano, m["Timestamp"])
	if age := now.Sub(sent); err != nil || age > replayWindow || age < -tolerance {
		return refusedf("the message of SNS is older than %s, or its time is in the future: check the clock",
			replayWindow)
	}
	return nil
}

// signed returns the text that SNS signs: names and values of the members in the order of the names. Absent members are
// left out.
func (m snsMessage) signed() string {
	var out strings.Builder
	for _, name := range m.signedNames() {
		if m[name] != "" {
			out.WriteString(name + "\n" + m[name] + "\n")
		}
	}
	return out.String()
}

var snsHost = regexp.MustCompile(`^sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(\.cn)?$`)

// amazons reports whether an address is one of SNS, over HTTPS, whose path has an end.
func amazons(address, end string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.User == nil && snsHost.MatchString(u.Host) &&
		strings.HasSuffix(u.Path, end)
}

func parse(raw []byte) (*certificate, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, refusedf("the certificate of SNS is not PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, refusedf("the certificate of SNS cannot be read")
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, refusedf("the certificate of SNS has no RSA key")
	}
	return &certificate{key, cert.NotBefore, cert.NotAfter}, nil
}

// fetchHTTPS reads an address with limits on time and size.
func fetchHTTPS(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fault.Newf(fault.Unavailable, "%s answers %d", r.URL.Host, answer.StatusCode)
	}
	return io.ReadAll(io.LimitReader(answer.Body, maxFetched))
}
