package intake

import (
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// statusWords are the words with which senders say in which state an alert is, in lower case with single spaces.
var statusWords = byWord(map[Status][]string{
	Resolved: {"ok", "okay", "resolve", "resolved", "recover", "recovered", "recovery", "close", "closed", "up",
		"normal", "normal resolve", "back to normal", "clear", "cleared", "success", "succeeded", "successful", "healthy",
		"passed", "passing", "pass", "fixed", "inactive", "completed", "complete", "done", "online", "available",
		"solved", "deactivated", "operational"},
	Acknowledged: {"ack", "acknowledge", "acknowledged", "acknowledgement"},
	Firing: {"firing", "fire", "fired", "trigger", "triggered", "alert", "alerting", "alarm", "in alarm", "problem", "open",
		"opened", "reopen", "reopened", "new", "create", "created", "active", "activated", "start", "started", "down",
		"offline", "unavailable", "unreachable", "unhealthy", "failed", "failing", "failure", "fail", "error", "errored",
		"critical", "crit", "warning", "warn", "degraded", "breached", "no data", "nodata", "unknown", "update",
		"updated", "escalate", "escalated", "investigating", "identified", "1", "true"},
})

// severityWords are the words with which senders say how serious an alert is, in lower case with single spaces. The
// numbers of Azure's severities begin with 0, those of priorities usually with 1.
var severityWords = byWord(map[Severity][]string{
	Critical: {"critical", "crit", "fatal", "disaster", "emergency", "emerg", "alert", "urgent", "page", "blocker",
		"highest", "p0", "p1", "sev0"},
	Error:   {"error", "err", "high", "major", "severe", "p2", "sev1"},
	Warning: {"warning", "warn", "medium", "moderate", "average", "minor", "p3", "sev2"},
	Info: {"info", "information", "informational", "notice", "low", "lowest", "trivial", "debug", "verbose", "none", "p4", "p5",
		"sev3", "sev4"},
})

func byWord[T ~string](table map[T][]string) map[string]T {
	out := map[string]T{}
	for value, words := range table {
		for _, word := range words {
			out[word] = value
		}
	}
	return out
}

// plainWord returns a word as the tables have it: IN_ALARM and in-alarm are "in alarm".
func plainWord(word string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(word))), " ")
}

// StatusOf returns the status that a word of a sender means. An unknown word means Firing; no word means Firing and is
// known.
func StatusOf(word string) (s Status, known bool) {
	plain := plainWord(word)
	if s, known = statusWords[plain]; known {
		return s, true
	}
	return Firing, plain == ""
}

// SeverityOf returns the severity that a word of a sender means. An unknown word means "", the default of the
// integration; no word means "" and is known.
func SeverityOf(word string) (s Severity, known bool) {
	plain := plainWord(word)
	s, known = severityWords[plain]
	return s, known || plain == ""
}

// SayStatus sets the status from a word of the sender, and notes an unknown word.
func (e *Event) SayStatus(word string) {
	var known bool
	if e.Status, known = StatusOf(word); !known {
		e.unknown("status", word, "the alert is taken as firing")
	}
}

// SaySeverity sets the severity from a word of the sender, and notes an unknown word.
func (e *Event) SaySeverity(word string) {
	var known bool
	if e.Severity, known = SeverityOf(word); !known {
		e.unknown("severity", word, "the default severity of the integration applies")
	}
}

// maxWord is how many characters of an unknown word are shown.
const maxWord = 40

func (e *Event) unknown(field, word, instead string) {
	e.Failures = append(e.Failures, Failure{Field: field, Unknown: true,
		Reason: "the " + field + " " + strconv.Quote(humanize.Shorten(word, maxWord)) + " is unknown: " + instead})
}
