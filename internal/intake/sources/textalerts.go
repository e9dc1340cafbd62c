package sources

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// maxTextAlerts limits how many alerts are read from a text.
const maxTextAlerts = 10_000

// sectionEnds are the lines that follow the annotations of an alert in the texts of Alertmanager and Grafana.
var sectionEnds = []string{"Source: ", "Silence: ", "Dashboard: ", "Panel: ", "Value: "}

// textAlerts returns the alerts of a text that the default templates of Alertmanager (up to 0.29) and Grafana make, in
// the form of a list of alerts. Any other text has none. An alert is:
//
//	Labels:
//	 - alertname = Disk
//	Annotations:
//	 - summary = a value may go on
//	in the next line
//	Source: https://prometheus.example.com/graph
func textAlerts(text, status string) []members {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var out []members
	var labels, annotations map[string]string
	var section map[string]string // labels or annotations; nil = between them
	var name string               // of the pair whose value is being read
	var from, to int              // its value in the text
	endPair := func() {
		if section != nil && name != "" {
			section[name] = strings.TrimSpace(text[from:to])
		}
		name = ""
	}
	endAlert := func() {
		endPair()
		if len(labels) > 0 {
			out = append(out, members{"status": quoted(status), "fingerprint": quoted(prometheusFingerprint(labels)),
				"labels": encoded(labels), "annotations": encoded(annotations)})
		}
	}
	for start := 0; start < len(text) && len(out) < maxTextAlerts; {
		line, _, _ := strings.Cut(text[start:], "\n")
		end := start + len(line)
		rest := text[min(end+1, len(text)):]
		pair, isPair := strings.CutPrefix(line, " - ")
		key, value, isPair2 := strings.Cut(pair, " = ")
		switch {
		case line == "Labels:" && strings.HasPrefix(rest, " - "):
			endAlert()
			labels, annotations = map[string]string{}, map[string]string{}
			section = labels
		case line == "Annotations:" && labels != nil && len(annotations) == 0:
			endPair()
			section = annotations
		case slices.ContainsFunc(sectionEnds, func(s string) bool { return strings.HasPrefix(line, s) }):
			endPair()
			section = nil
		case section != nil && isPair && isPair2:
			endPair()
			name, from, to = key, end-len(value), end
		default:
			to = end // the value goes on
		}
		start = end + 1
	}
	if len(out) < maxTextAlerts {
		endAlert()
	}
	return out
}

// prometheusFingerprint returns the fingerprint that Prometheus and Alertmanager give labels, so that an alert is the
// same as a text and in a list.
func prometheusFingerprint(labels map[string]string) string {
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		_, _ = h.Write([]byte(name + "\xff" + labels[name] + "\xff")) // never fails
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a text is always valid
	return raw
}
