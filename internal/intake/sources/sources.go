package sources

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// All returns the decoders by type of integration. Those without a format of their own read payloads by the recipes.
func All(book *recipes.Book) map[string]intake.Decoder {
	return map[string]intake.Decoder{
		"alertmanager": Alertmanager,
		"datadog":      Datadog,
		"email":        Email(book),
		"generic":      Generic(book),
		"grafana":      Grafana,
		"nagios":       Nagios,
		"opsgenie":     Opsgenie,
		"pagerduty":    PagerDuty,
		"sentry":       Sentry,
		"sns":          SNS(book),
		"uptime_kuma":  UptimeKuma,
		"zabbix":       Zabbix,
	}
}

// Types returns the types of integrations, sorted: those with a decoder, and heartbeat.
func Types() []string {
	out := append(slices.Collect(maps.Keys(All(nil))), intake.Heartbeat)
	slices.Sort(out)
	return out
}

// ShortKey returns a key of at most intake.MaxKey bytes. Longer keys are hashed.
func ShortKey(key string) string {
	if len(key) <= intake.MaxKey {
		return key
	}
	return hashed(key)
}

func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
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
		if s = strings.TrimSpace(strings.ReplaceAll(s, "\x00", "")); s != "" { // PostgreSQL stores no NUL
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

// strings returns the texts and numbers in a member that is an array, without blanks around them.
func (m members) strings(name string) (out []string) {
	var raw []json.RawMessage
	_ = json.Unmarshal(m[name], &raw) // another type counts as absent
	for _, r := range raw {
		if s := (members{"": r}).text(""); s != "" {
			out = append(out, s)
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

// macro matches a variable that the sender did not replace: $NAME, $NAME$ or {NAME}, or what stands for an unknown one.
var macro = regexp.MustCompile(`^(\$[A-Z_]+\$?|\{[A-Z$][A-Z0-9_.$#]*\}|\*UNKNOWN\*|null)$`)

// expanded returns the members without those whose text is a variable that the sender did not replace.
func (m members) expanded() members {
	out := members{}
	for name, raw := range m {
		if !macro.MatchString(m.text(name)) {
			out[name] = raw
		}
	}
	return out
}

// addTags adds tags of the form "name:value" to the labels. It returns the other tags.
func addTags(labels map[string]string, tags []string) (plain []string) {
	for _, tag := range tags {
		tag = strings.TrimSpace(tag)
		if name, value, pair := strings.Cut(tag, ":"); pair && name != "" && labels[name] == "" {
			labels[name] = value
		} else if !pair && tag != "" {
			plain = append(plain, tag)
		}
	}
	return plain
}

// addImages adds the addresses that are absolute.
func addImages(images []intake.Image, addresses ...string) []intake.Image {
	for _, address := range addresses {
		if absolute(address) {
			images = append(images, intake.Image{URL: address})
		}
	}
	return images
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

// instant reads a time of a sender, in the microseconds that PostgreSQL stores. An unreadable time or the year 1 is
// zero.
func instant(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1 && t.Year() <= 9999 {
			return t.UTC().Truncate(time.Microsecond)
		}
	}
	return time.Time{}
}

// epoch reads seconds or milliseconds since 1970. An unreadable time is zero.
func epoch(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || n <= 0 || n >= 1e14:
		return time.Time{}
	case n >= 1e11:
		return time.UnixMilli(n).UTC()
	}
	return time.Unix(n, 0).UTC()
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}
