package signatures

import (
	"context"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/kit/fault"
)

var now = time.Date(2026, 3, 4, 2, 11, 30, 0, time.UTC)

func mac(secret, signed string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(signed))
	return hex.EncodeToString(h.Sum(nil))
}

func TestSignaturesWithSecrets(t *testing.T) {
	t.Parallel()
	const body = `{"a":"\u00e9"}`
	stamp := strconv.FormatInt(now.Unix(), 10)
	late := strconv.FormatInt(now.Add(-6*time.Minute).Unix(), 10)
	timed := Settings{SignatureHeader: "X-Sig", TimestampHeader: "X-Time"}
	for what, c := range map[string]struct {
		kind     string
		settings Settings
		secrets  []string
		headers  map[string]string
		refusal  string // "" = accepted
	}{
		"no secret":  {"grafana", timed, nil, nil, ""},
		"other type": {"generic", Settings{}, []string{"one"}, nil, ""},
		"Grafana": {"grafana", Settings{}, []string{"one", "two"},
			map[string]string{"X-Grafana-Alerting-Signature": mac("two", body)}, ""},
		"missing": {"grafana", Settings{}, []string{"one"}, nil,
			"send the header X-Grafana-Alerting-Signature"},
		"wrong secret": {"grafana", Settings{}, []string{"one"},
			map[string]string{"X-Grafana-Alerting-Signature": mac("two", body)}, "is wrong"},
		"no hexadecimal": {"grafana", Settings{}, []string{"one"},
			map[string]string{"X-Grafana-Alerting-Signature": "zz"}, "is wrong"},
		"other body": {"grafana", Settings{}, []string{"one"},
			map[string]string{"X-Grafana-Alerting-Signature": mac("one", body+" ")}, "is wrong"},
		"with the time": {"grafana", timed, []string{"one"},
			map[string]string{"X-Sig": mac("one", stamp+":"+body), "X-Time": stamp}, ""},
		"without the time": {"grafana", timed, []string{"one"}, map[string]string{"X-Sig": mac("one", body)},
			"X-Time has no time"},
		"time not signed": {"grafana", timed, []string{"one"},
			map[string]string{"X-Sig": mac("one", body), "X-Time": stamp}, "is wrong"},
		"replayed": {"grafana", timed, []string{"one"},
			map[string]string{"X-Sig": mac("one", late+":"+body), "X-Time": late}, "more than 5m0s ago"},
		"Sentry": {"sentry", Settings{}, []string{"one"},
			map[string]string{"Sentry-Hook-Signature": mac("one", body)}, ""},
		"Sentry, wrong": {"sentry", Settings{}, []string{"one"},
			map[string]string{"Sentry-Hook-Signature": mac("two", body)}, "Sentry-Hook-Signature is wrong"},
		"Sentry, no headers": {"sentry", Settings{}, []string{"one"}, nil, "send the header Sentry-Hook-Signature"},
	} {
		header := http.Header{}
		for name, v := range c.headers {
			header.Set(name, v)
		}
		_, err := New(nil).Check(t.Context(), Delivery{Type: c.kind, Settings: c.settings, Secrets: c.secrets,
			Header: header.Get, Body: []byte(body), At: now})
		if c.refusal == "" {
			require.NoError(t, err, what)
			continue
		}
		require.True(t, fault.Is(err, fault.Unauthenticated), what)
		require.ErrorContains(t, err, c.refusal, what)
	}
}

// amazon is a fake Amazon: it signs messages and answers its addresses.
type amazon struct {
	key     *rsa.PrivateKey
	cert    []byte
	fetched []string
	fail    bool
}

func newAmazon(t *testing.T) *amazon {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return &amazon{key: key, cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *amazon) fetch(_ context.Context, address string) ([]byte, error) {
	a.fetched = append(a.fetched, address)
	if a.fail {
		return nil, errors.New("no route")
	}
	if strings.HasSuffix(address, ".pem") {
		return a.cert, nil
	}
	return []byte("<ok/>"), nil
}

// sign returns the delivery of a message.
func (a *amazon) sign(t *testing.T, m map[string]string) []byte {
	t.Helper()
	signed := []byte(snsMessage(m).signed())
	new256, old := sha256.Sum256(signed), sha1.Sum(signed)
	hash, sum := crypto.SHA256, new256[:]
	if m["SignatureVersion"] == "1" {
		hash, sum = crypto.SHA1, old[:]
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, hash, sum)
	require.NoError(t, err)
	m["Signature"] = base64.StdEncoding.EncodeToString(signature)
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	return raw
}

const certURL = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"

func notification(changes ...string) map[string]string {
	m := map[string]string{"Type": "Notification", "MessageId": "5f1c", "TopicArn": "arn:aws:sns:eu-west-1:1:ops",
		"Subject": "s", "Message": "m",
		"Timestamp": now.Format(time.RFC3339), "SignatureVersion": "2", "SigningCertURL": certURL}
	for k := 0; k < len(changes); k += 2 {
		m[changes[k]] = changes[k+1]
	}
	return m
}

func TestSignaturesOfSNS(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		message  map[string]string
		change   func(string) string // of the signed body
		settings Settings
		refusal  string // "" = accepted
		fetches  int
	}{
		"version 2": {notification(), nil, Settings{}, "", 1},
		"version 1": {notification("SignatureVersion", "1", "Subject", ""), nil, Settings{}, "", 1},
		"changed": {notification(),
			func(s string) string { return strings.Replace(s, `"Message":"m"`, `"Message":"x"`, 1) }, Settings{}, "is wrong", 1},
		"two spellings": {notification(),
			func(s string) string { return strings.Replace(s, `"Message":"m"`, `"Message":"x","message":"m"`, 1) }, Settings{}, "is wrong", 1},
		"not signed": {notification(), func(string) string { return `{"Type":"Notification","Message":"m"}` },
			Settings{}, "has no signature", 0},
		"no JSON":       {notification(), func(string) string { return "alarm" }, Settings{}, "has no signature", 0},
		"other version": {notification("SignatureVersion", "3"), nil, Settings{}, "version", 1},
		"old": {notification("Timestamp", now.Add(-2*time.Hour).Format(time.RFC3339)), nil, Settings{},
			"older than", 1},
		"no time": {notification("Timestamp", "x"), nil, Settings{}, "older than", 1},
		"no base64": {notification(),
			func(s string) string { return strings.Replace(s, `"Signature":"`, `"Signature":"*`, 1) }, Settings{}, "is not base64", 1},
		"other topic": {notification(), nil, Settings{Topics: []string{"arn:aws:sns:eu-west-1:1:dev"}},
			"is not among the topics", 0},
		"the topic": {notification(), nil, Settings{Topics: []string{"arn:aws:sns:eu-west-1:1:ops"}}, "", 1},
		"not checked": {notification(), func(s string) string { return strings.Replace(s, `"m"`, `"x"`, 1) },
			Settings{Unsigned: true}, "", 0},
		"other host": {notification("SigningCertURL", "https://sns.eu-west-1.amazonaws.com.evil.example/a.pem"),
			nil, Settings{}, "no address of a certificate", 0},
		"look-alike": {notification("SigningCertURL", "https://sns.a.b.amazonaws.com/a.pem"), nil, Settings{},
			"no address of a certificate", 0},
		"plain HTTP": {notification("SigningCertURL", "http://sns.eu-west-1.amazonaws.com/a.pem"), nil, Settings{},
			"no address of a certificate", 0},
		"user": {notification("SigningCertURL", "https://u@sns.eu-west-1.amazonaws.com/a.pem"), nil,
			Settings{}, "no address of a certificate", 0},
		"port": {notification("SigningCertURL", "https://sns.eu-west-1.amazonaws.com:8443/a.pem"), nil,
			Settings{}, "no address of a certificate", 0},
		"number": {notification("Subject", ""),
			func(s string) string { return strings.Replace(s, `"Subject":""`, `"Subject":42`, 1) }, Settings{}, "has no signature", 0},
		"other type": {notification("Type", "Notification2"), nil, Settings{}, "is none of SNS", 0},
		"no type":    {notification("Type", ""), nil, Settings{}, "is none of SNS", 0},
		"two lines":  {notification("Message", "a\nb", "Subject", "a\nb"), nil, Settings{}, "", 1},
		"hidden topic": {notification("MessageId", "5f1c\nTopicArn\narn:aws:sns:eu-west-1:1:dev"), nil, Settings{},
			"MessageId of the message of SNS has a line break", 0},
		"no certificate": {notification("SigningCertURL", "https://sns.eu-west-1.amazonaws.com/a.txt"), nil,
			Settings{}, "no address of a certificate", 0},
	} {
		a := newAmazon(t)
		body := string(a.sign(t, c.message))
		if c.change != nil {
			body = c.change(body)
		}
		_, err := New(a.fetch).Check(t.Context(), Delivery{Type: "sns", Settings: c.settings,
			Header: http.Header{}.Get, Body: []byte(body), At: now})
		require.Len(t, a.fetched, c.fetches, what)
		if c.refusal == "" {
			require.NoError(t, err, what)
			continue
		}
		require.True(t, fault.Is(err, fault.Unauthenticated), "%s: %v", what, err)
		require.ErrorContains(t, err, c.refusal, what)
	}
}

func TestSubscriptionsOfSNSAreConfirmed(t *testing.T) {
	t.Parallel()
	const subscribe = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=t"
	a := newAmazon(t)
	c := New(a.fetch)
	check := func(s Settings, changes ...string) (string, error) {
		m := notification(append([]string{"Type", "SubscriptionConfirmation", "Token", "t", "SubscribeURL", subscribe},
			changes...)...)
		return c.Check(t.Context(), Delivery{Type: "sns", Settings: s, Header: http.Header{}.Get, Body: a.sign(t, m),
			At: now})
	}
	text, err := check(Settings{})
	require.NoError(t, err)
	require.Equal(t, "subscription of the topic arn:aws:sns:eu-west-1:1:ops confirmed", text)
	require.Equal(t, []string{certURL, subscribe}, a.fetched)
	_, err = check(Settings{}, "SubscribeURL", "https://sns.evil.example/")
	require.True(t, fault.Is(err, fault.Unauthenticated))
	text, err = check(Settings{Unsigned: true})
	require.NoError(t, err)
	require.Contains(t, text, "open the SubscribeURL")
	require.Len(t, a.fetched, 2, "the certificate is kept, and other addresses are not opened")
	a.fail = true
	_, err = check(Settings{})
	require.True(t, fault.Is(err, fault.Unavailable), "SNS tries again")
	require.ErrorContains(t, err, "open the SubscribeURL")
	c = New(a.fetch)
	_, err = check(Settings{})
	require.True(t, fault.Is(err, fault.Unavailable), "without the certificate")
}

func TestRawDeliveriesOfSNSAreNotSigned(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Amz-Sns-Rawdelivery": {"true"}}
	for unsigned, want := range map[bool]bool{true: true, false: false} {
		_, err := New(nil).Check(t.Context(), Delivery{Type: "sns", Settings: Settings{Unsigned: unsigned},
			Header: header.Get, Body: []byte(`{"AlarmName":"a"}`), At: now})
		require.Equal(t, want, err == nil)
	}
}
