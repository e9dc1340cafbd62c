// Package sources decodes the deliveries of alert sources into events. It has one file for each source. The decoders are pure: they
// store nothing and read no address. The edge that takes deliveries calls them.
package sources

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/intake"
)

// All returns the decoders by type of integration.
func All() map[string]intake.Decoder {
	return map[string]intake.Decoder{"alertmanager": Alertmanager, "grafana": Grafana, "generic": Generic, "opsgenie": Opsgenie, "pagerduty": PagerDuty}
}

// severity returns the severity that a word of a sender means; "" = none.
func severity(word string) intake.Severity {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "critical", "crit", "fatal", "disaster", "emergency", "page", "p1":
		return intake.Critical
	case "error", "err", "high", "major", "p2":
		return intake.Error
	case "warning", "warn", "medium", "average", "minor", "p3":
		return intake.Warning
	case "info", "information", "notice", "low", "debug", "p4", "p5":
		return intake.Info
	}
	return ""
}

// ShortKey returns a key of at most intake.MaxKey bytes. Longer keys are hashed.
func ShortKey(key string) string {
	if len(key) <= intake.MaxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// object decodes a JSON object into members; body is a JSON object without NUL. Any other body is an Invalid fault.
func object(body []byte) (members, error) {
	var m members
	if err := json.Unmarshal(body, &m); err != nil || m == nil {
		return nil, fault.New(fault.Invalid, "the body must be a JSON object")
	}
	return m, nil
}

// members are the members of a JSON object. Members with a wrong type count as absent.
type members map[string]json.RawMessage

// text returns the first member that is a text or a number and not empty.
func (m members) text(names ...string) string {
	for _, name := range names {
		raw := bytes.TrimSpace(m[name])
		if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || bytes.Equal(raw, []byte("null")) {
			continue
		}
		s := string(raw)
		if raw[0] == '"' && json.Unmarshal(raw, &s) != nil {
			continue
		}
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

// within returns the members of a member that is an object.
func (m members) within(name string) members {
	var inner members
	_ = json.Unmarshal(m[name], &inner) // another type counts as absent
	return inner
}

// list returns the objects in a member that is an array.
func (m members) list(name string) []members {
	var raw []json.RawMessage
	_ = json.Unmarshal(m[name], &raw) // another type counts as absent
	var out []members
	for _, r := range raw {
		var one members
		if json.Unmarshal(r, &one) == nil && one != nil {
			out = append(out, one)
		}
	}
	return out
}

// texts returns the members that are texts or numbers.
func (m members) texts() map[string]string {
	out := map[string]string{}
	for name := range m {
		if s := m.text(name); s != "" {
			out[name] = s
		}
	}
	return out
}

// addLink adds a link if it is an absolute address and no link has it yet.
func addLink(links []intake.Link, address, text string) []intake.Link {
	if address = strings.TrimSpace(address); !absolute(address) {
		return links
	}
	for _, l := range links {
		if l.URL == address {
			return links
		}
	}
	return append(links, intake.Link{URL: address, Text: text})
}

// absolute reports whether an address is absolute, http or https.
func absolute(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// instant reads a time of a sender, in the microseconds that PostgreSQL stores. An unreadable time or the year 1 is zero.
func instant(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1 && t.Year() <= 9999 {
			return t.UTC().Truncate(time.Microsecond)
		}
	}
	return time.Time{}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}
