package contract

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unlogged are the requests, except operations of wings, that write no entry of the audit log, with the reason. All
// other operations that change something must write one.
var unlogged = []struct {
	operations *regexp.Regexp
	reason     string
}{
	{regexp.MustCompile(`^\w+ (/v0|/v1|/pagerduty)?/incidents(/|$)|^POST /v0/internal/incident/|^\w+ /v2/alerts|^POST /ack/|/iris_escalate$`), "the timeline of the incident has it"},
	{regexp.MustCompile(`^\w+ (/v1/hooks/|/v0/webhooks/|/v2/enqueue|/v2/change/enqueue|/generic/)|/heartbeats/{name}/ping$`), "it delivers events"},
	{regexp.MustCompile(`^POST /(v0/response/|v0/twilio/|api/v0/(twilio|slack|gmail-oneclick)/)`),
		"the timeline has the answer, the message has the receipt"},
	{regexp.MustCompile(`^POST (/v[01]/notifications|/plans/{plan}/test)$`), "messages have a log of their own"},
	{regexp.MustCompile(`^POST /theme$`), "it only sets a cookie"},
	{regexp.MustCompile(`(preview|preview/html|/route-test)$`), "it changes nothing"},
	{regexp.MustCompile(`^POST /v1/calendar-subscriptions/{id}/refresh$`), "it only makes a calendar due"},
	{regexp.MustCompile(`/contacts/{mode}/code$`), "it sends a code; the verification is logged"},
	{regexp.MustCompile(`^POST (/account/second-factor|/login/(command-line|password|second-factor(/set-up)?)|/sessions/end-others)$`), "its success here only leads to another page; tests of internal/program/site and test/browser go on"},
}

// logged are pages below those of unlogged that write an entry.
var logged = regexp.MustCompile(`^POST /incidents/\{id\}/(updates$|review/)`)

// unloggedBecause returns the reason why an operation writes no entry; "" = it must write one.
func unloggedBecause(operation string) string {
	if logged.MatchString(operation) {
		return ""
	}
	for _, u := range unlogged {
		if u.operations.MatchString(operation) {
			return u.reason
		}
	}
	return ""
}

// readAudit notes which successful changes of a server are in its audit log. An operation of a wing must have said
// which actions it writes.
func (s *server) readAudit() {
	rows, err := s.db.Query(context.Background(),
		"select distinct request_id, action from audit_log where request_id <> ''")
	require.NoError(s, err)
	defer rows.Close()
	for rows.Next() {
		var request, action string
		require.NoError(s, rows.Scan(&request, &action))
		covering.Lock()
		if operation, changed := s.changes[request]; changed {
			audited[operation] = true
			if actions, typed := promised[operation]; typed {
				assert.Contains(s, actions, action, "%s writes an entry that its definition does not name", operation)
			}
		}
		covering.Unlock()
	}
	require.NoError(s, rows.Err())
}

// unaudited fails the whole suite if a changing operation never wrote an entry of the audit log, or if one that is
// listed in unlogged did.
func unaudited() int {
	code := 0
	for operation := range asked {
		method, _, _ := strings.Cut(operation, " ")
		if method == "GET" || method == "HEAD" {
			continue
		}
		if actions, typed := promised[operation]; typed {
			if (len(actions) > 0) != audited[operation] {
				fmt.Fprintf(os.Stderr, "the definition of %s names the entries %q; it wrote one: %t\n", operation,
					actions, audited[operation])
				code = 1
			}
			continue
		}
		reason := unloggedBecause(operation)
		switch {
		case reason == "" && !audited[operation]:
			fmt.Fprintln(os.Stderr, "no success of", operation, "wrote an entry of the audit log")
			code = 1
		case reason != "" && audited[operation]:
			fmt.Fprintln(os.Stderr, operation, "wrote an entry of the audit log, but it is listed as one without:",
				reason)
			code = 1
		}
	}
	return code
}
