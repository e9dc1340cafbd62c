package signatures

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Settings are the settings of an integration about signatures.
type Settings struct {
	// SignatureHeader is the header with Grafana's signature; "" = Grafana's default. TimestampHeader is the header
	// with the time of the signature; "" = the time is not signed.
	SignatureHeader string `json:"signature_header,omitempty"`
	TimestampHeader string `json:"timestamp_header,omitempty"`
	// Unsigned accepts deliveries of SNS without checking their signatures. Topics are the accepted topics of SNS; none
	// = every topic.
	Unsigned bool     `json:"unsigned,omitempty"`
	Topics   []string `json:"topics,omitempty"`
}

const maxTopics = 100

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,100}$`)

// HasSettings reports whether integrations of a type have settings about signatures.
func HasSettings(kind string) bool { return kind == grafana || kind == sns }

// Parse reads the settings of an integration of a type. Unknown or wrong members are Invalid faults that name the
// member.
func Parse(kind string, raw json.RawMessage) (s Settings, err error) {
	if len(raw) == 0 || !HasSettings(kind) {
		return s, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fault.Invalidf("settings", "settings: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if kind == sns && s.SignatureHeader+s.TimestampHeader != "" || kind == grafana && (s.Unsigned || s.Topics != nil) {
		return s, fault.Invalidf("settings", "the settings of %s are %s", kind, map[string]string{
			sns: "unsigned and topics", grafana: "signature_header and timestamp_header"}[kind])
	}
	for _, header := range []string{s.SignatureHeader, s.TimestampHeader} {
		if header != "" && !headerName.MatchString(header) {
			return s, fault.Invalidf("settings", "%.100q is no name of a header", header)
		}
	}
	if len(s.Topics) > maxTopics {
		return s, fault.Invalidf("settings", "an integration has at most %d topics", maxTopics)
	}
	for _, t := range s.Topics {
		if !strings.HasPrefix(t, "arn:") || len(t) > 300 {
			return s, fault.Invalidf("settings", "%.300q is no ARN of a topic", t)
		}
	}
	return s, nil
}
