package irisapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/wire"
)

// mistake fails the test unless err is nil or a client's mistake in words.
func mistake(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.NotEmpty(t, f.Message)
	require.True(t, utf8.ValidString(f.Message+f.Detail))
}

func FuzzIncidentBody(f *testing.F) {
	f.Add([]byte(`{"plan":"p","context":{"host":"\u0000\ud83d\ude00/","message":{"a":[1e999,{}]}},"dynamic_targets":[{"role":"user","target":"ann"}]}`))
	f.Add([]byte(`{"plan":null,"context":[]}`))
	f.Add([]byte(`{"plan":"p","context":{"host":"\\u0000"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := parseIncident(raw)
		mistake(t, err)
		if err != nil {
			return
		}
		require.NotEmpty(t, n.plan)
		out, err := stored(n.raw, n.context, []string{"host", "message"})
		mistake(t, err)
		if err != nil {
			return
		}
		var kept map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(out, &kept))
		require.Len(t, kept, 2)
		var host string
		if json.Unmarshal(kept["host"], &host) == nil {
			require.NotContains(t, host, "\x00")
			require.GreaterOrEqual(t, wire.JSONSize(out), utf8.RuneCountInString(host))
		}
	})
}

func FuzzPlanBody(f *testing.F) {
	f.Add([]byte(`{"name":"n","creator":"a","description":"d","threshold_window":1,"threshold_count":1,"aggregation_window":1,
		"aggregation_reset":1,"steps":[[{"priority":"low","template":"t","wait":1,"repeat":0,"role":"user","target":"x"}]],
		"tracking_type":"email","tracking_key":"a@b","tracking_template":{"app":{"email_subject":"s","email_text":"t"}}}`))
	f.Add([]byte(`{"name":1,"steps":[[[]]]}`))
	f.Add([]byte(`{"name":"n","creator":"a","description":"","threshold_window":"1","threshold_count":1e2,"aggregation_window":true,
		"aggregation_reset":0,"steps":[[{"template":"t","wait":1,"repeat":9,"dynamic_index":3}],[]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := parseBody(raw, catalog.InvalidPlan)
		mistake(t, err)
		if err != nil {
			return
		}
		p, err := parsePlan(b)
		mistake(t, err)
		if err != nil {
			return
		}
		require.False(t, digits(p.name))
		mistake(t, catalog.CheckShape(p.Steps, 24*time.Hour))
		if p.tracking != nil {
			_, err := p.tracking.Check(func(string) error { return nil })
			mistake(t, err)
		}
	})
}

func FuzzNotificationBody(f *testing.F) {
	f.Add([]byte(`{"role":"user","target":"ann","subject":"s","priority":"high","mode":"email","body":"b","context":{"a":"\u0000"},"template":"t"}`))
	f.Add([]byte(`{"target_list":[{"role":"user","target":"ann","bcc":true}],"subject":"s","mode":"email","email_html":"h"}`))
	f.Add([]byte(`{"role":"literal_target","target":"x","subject":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := parseNotify(raw)
		mistake(t, err)
		if err != nil {
			return
		}
		require.True(t, n.Mode != "" || n.Priority != "")
		require.LessOrEqual(t, len(n.Targets), notifications.MaxRecipients)
		require.True(t, storable(n.Subject+n.Body+n.EmailHTML+n.Template))
	})
}

func FuzzTemplateContent(f *testing.F) {
	f.Add([]byte(`{"demo":{"email":{"subject":"s","body":"b","email_html":null}},"Demo":{}}`))
	f.Add([]byte(`{"demo":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		words, err := parseContent(raw)
		mistake(t, err)
		for _, w := range words {
			require.True(t, storable(w.Subject+w.Body+w.EmailHTML+w.Application))
		}
	})
}

func FuzzClaimBody(f *testing.F) {
	f.Add([]byte(`{"owner":"ann","incident_ids":[1,"2",3.0,true]}`))
	f.Add([]byte(`{"owner":null,"incident_ids":[],"resolved":{"a":1},"active":1e3}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := parseBody(raw, "")
		mistake(t, err)
		if err != nil {
			return
		}
		_, err = parseClaim(b, "missing")
		mistake(t, err)
		_, err = incidentIDs(b, "missing")
		mistake(t, err)
		_, err = activeField(b, "missing", fault.New(fault.Invalid, "invalid"))
		mistake(t, err)
		truthy(b.members["resolved"])
	})
}

// pythonSize is wire.JSONSize by decoding and encoding again: slow and plain.
func pythonSize(t *testing.T, compact []byte) int {
	t.Helper()
	n := 0
	d := json.NewDecoder(bytes.NewReader(compact))
	d.UseNumber()
	plain := 0
	for {
		start := d.InputOffset()
		tok, err := d.Token()
		if err != nil {
			break
		}
		s, ok := tok.(string)
		if !ok {
			continue
		}
		raw := compact[start:d.InputOffset()]
		raw = raw[bytes.IndexByte(raw, '"'):]
		plain += len(raw)
		n += 2
		for _, c := range s {
			switch {
			case strings.ContainsRune("\"\\/\b\f\n\r\t", c):
				n += 2
			case c < 0x20:
				n += 6
			case c < 0x80:
				n++
			case c > 0xffff:
				n += 12
			default:
				n += 6
			}
		}
	}
	return n + len(compact) - plain
}

func TestContextSize(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`{}`, `{"a":"/","b":"\/","c":"ü","d":"\u00fc","e":"😀","f":"\ud83d\ude00","g":"\n\u000a\u0001\u0041\u007f\u0022\u002F","h":[1,2.5,null]}`} {
		require.Equal(t, pythonSize(t, []byte(s)), wire.JSONSize([]byte(s)), s)
	}
	require.Equal(t, len(`{"a":"\ud83d\ude00\/"}`), wire.JSONSize([]byte(`{"a":"😀/"}`)))
}

func FuzzContextSize(f *testing.F) {
	f.Add(`{"a":"/\u0041\\u0041","b":["ü"]}`)
	f.Fuzz(func(t *testing.T, s string) {
		var buf bytes.Buffer
		if !utf8.ValidString(s) || json.Compact(&buf, []byte(s)) != nil || strings.Contains(s, `\ud`) || strings.Contains(s, `\uD`) {
			return // lone surrogates are decoded to something else
		}
		require.Equal(t, pythonSize(t, buf.Bytes()), wire.JSONSize(buf.Bytes()))
	})
}

func TestTruthyIsPythons(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"0": false, "0.0": false, "1": true, "-1": true, "true": true, "false": false, "null": false,
		`""`: false, `"0"`: true, "[]": false, "[0]": true, "{}": false, `{"a":0}`: true, "1e999": true} {
		require.Equal(t, want, truthy(json.RawMessage(s)), s)
	}
}

func TestIntegersComeInSeveralShapes(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{"7": 7, "7.0": 7, `"7"`: 7, `" 7 "`: 7, "1e2": 100, "true": 1, "false": 0} {
		n, ok := integer(json.RawMessage(s))
		require.True(t, ok, s)
		require.Equal(t, want, n)
	}
	for _, s := range []string{"7.5", `"x"`, `""`, "null", "[]", "{}", "1e999", "99999999999999999999", `"NaN"`, `"Inf"`, `"0x10"`} {
		_, ok := integer(json.RawMessage(s))
		require.False(t, ok, s)
	}
}
