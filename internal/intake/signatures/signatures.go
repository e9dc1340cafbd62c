package signatures

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// tolerance is the largest difference between the clocks of a sender and of Iris.
const tolerance = 5 * time.Minute

// Delivery is what a signature covers.
type Delivery struct {
	Type     string // of the integration
	Settings Settings
	Secrets  []string
	Header   func(name string) string
	Body     []byte // as it came
	At       time.Time
}

// Checker checks signatures. It is safe for concurrent use.
type Checker struct {
	fetch        Fetch
	certificates *cache.Cache[string, *certificate]
}

// New returns a Checker. fetch reads certificates and confirms subscriptions; nil = over HTTPS.
func New(fetch Fetch) *Checker {
	if fetch == nil {
		fetch = fetchHTTPS
	}
	return &Checker{fetch, cache.New(cache.Config[string, *certificate]{TTL: keepCertificates,
		Entries: maxCertificates})}
}

// Types returns the types of integrations whose deliveries a secret can sign.
func Types() []string { return []string{grafana, sentry} }

const (
	grafana = "grafana"
	sentry  = "sentry"
	sns     = "sns"
)

// Check checks the signature of a delivery, if its integration requires one. The text says what else Check did; "" =
// nothing.
func (c *Checker) Check(ctx context.Context, d Delivery) (text string, err error) {
	switch {
	case d.Type == sns:
		return c.checkSNS(ctx, d)
	case len(d.Secrets) == 0:
		return "", nil
	case d.Type == grafana:
		return "", checkGrafana(d)
	case d.Type == sentry:
		return "", checkMAC(d, "Sentry-Hook-Signature", d.Body)
	}
	return "", nil
}

// checkGrafana checks an HMAC over the body, or over the time and the body if the settings name the header with the
// time.
func checkGrafana(d Delivery) error {
	header := d.Settings.SignatureHeader
	if header == "" {
		header = "X-Grafana-Alerting-Signature"
	}
	if d.Settings.TimestampHeader == "" {
		return checkMAC(d, header, d.Body)
	}
	stamp := d.Header(d.Settings.TimestampHeader)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return refusedf("the header %s has no time in seconds", d.Settings.TimestampHeader)
	}
	if err := checkMAC(d, header, append([]byte(stamp+":"), d.Body...)); err != nil {
		return err
	}
	if age := d.At.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return refusedf("the delivery was signed more than %s ago or ahead: check the clocks", tolerance)
	}
	return nil
}

// checkMAC compares the hexadecimal HMAC-SHA256 in a header with that of the signed bytes under each secret.
func checkMAC(d Delivery, header string, signed []byte) error {
	given := d.Header(header)
	if given == "" {
		return refusedf("the signature is missing: send the header %s", header)
	}
	mac, _ := hex.DecodeString(given) // other text is a wrong signature
	for _, secret := range d.Secrets {
		h := hmac.New(sha256.New, []byte(secret))
		h.Write(signed)
		if hmac.Equal(mac, h.Sum(nil)) {
			return nil
		}
	}
	return refusedf("the signature in the header %s is wrong: use the secret of the integration", header)
}

func refusedf(format string, args ...any) error {
	return fault.Newf(fault.Unauthenticated, format, args...)
}
