package sources

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// letter returns a mail with headers, one per line, and a text.
func letter(headers, text string) string {
	return strings.ReplaceAll("From: mon@example.com\nDate: Sun, 22 Nov 2026 09:13:57 +0000\n"+headers+"\n\n"+text,
		"\n", "\r\n")
}

func TestSubjectsOfMails(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]struct {
		status intake.Status
		key    string
	}{
		"Disk of db7":                            {intake.Firing, "disk of db7"},
		"Re: Fwd: Disk of db7":                   {intake.Firing, "disk of db7"},
		"[FIRING:12] Disk of db7":                {intake.Firing, "disk of db7"},
		"[RESOLVED] Disk of db7":                 {intake.Resolved, "disk of db7"},
		"RESOLVED: Disk of db7":                  {intake.Resolved, "disk of db7"},
		"Recovery - Disk of db7":                 {intake.Resolved, "disk of db7"},
		"AW: [Resolved] Disk of db7":             {intake.Resolved, "disk of db7"},
		"OK: Disk of db7":                        {intake.Resolved, "disk of db7"},
		"[Acknowledged] Disk of db7":             {intake.Acknowledged, "disk of db7"},
		"** PROBLEM Host Alert: db7 is DOWN **":  {intake.Firing, "host alert: db7"},
		"** RECOVERY Host Alert: db7 is UP **":   {intake.Resolved, "host alert: db7"},
		"Resolved incidents cannot be read":      {intake.Firing, "resolved incidents cannot be read"},
		"Up-to-date backup is missing":           {intake.Firing, "up-to-date backup is missing"},
		"OK button does not work":                {intake.Firing, "ok button does not work"},
		"The disk is not OK: [RESOLVED] is next": {intake.Firing, "the disk is not ok: [resolved] is next"},
	} {
		e := only(t, Email(builtin), letter("Subject: "+subject, "x"))
		require.Equal(t, want.status, e.Status, subject)
		require.Equal(t, want.key, e.Key, subject)
		require.Equal(t, subject, e.Title)
	}
}

func TestKeysOfMails(t *testing.T) {
	t.Parallel()
	require.Equal(t, "<alert-0123456789abcdef>", only(t, Email(builtin),
		letter("Subject: a\nReferences: <alert-0123456789abcdef-2026-11-22@alertmanager> <b@c>", "")).Key)
	require.Equal(t, "<first@x>", only(t, Email(builtin),
		letter("Subject: a\nIn-Reply-To: <second@x>\nReferences: <first@x> <second@x>", "")).Key)
	require.Equal(t, "<second@x>", only(t, Email(builtin), letter("Subject: a\nIn-Reply-To: <second@x>", "")).Key)
	r := request(letter("Subject: a\nIn-Reply-To: <second@x>", ""))
	r.Query = func(name string) string { return map[string]string{KeyParameter: "of-the-address"}[name] }
	events, err := Email(builtin)(r)
	require.NoError(t, err)
	require.Equal(t, "of-the-address", events[0].Key)
	require.Len(t, only(t, Email(builtin), letter("Subject: "+strings.Repeat("a", 900), "")).Key, 64)
}

func TestExpressionsOverMails(t *testing.T) {
	t.Parallel()
	r := request(letter("Subject: job 17\nX-State: done\nX-Severity: high", "host: db7\nruns"))
	r.Settings = json.RawMessage(`{"key":"{{ subject.split(' ')[1] }}","title":"{{ sender }}: {{ subject }}","status":"{{ 'ok' if headers['x-state'] == 'done' else 'firing' }}",
		"severity":"{{ headers['x-severity'] }}","labels":{"host":"{{ body.split('\n')[0]|replace('host: ', '') }}"}}`)
	events, err := Email(builtin)(r)
	require.NoError(t, err)
	e := events[0]
	require.Equal(t, intake.Resolved, e.Status)
	require.Equal(t, "17", e.Key)
	require.Equal(t, "mon@example.com: job 17", e.Title)
	require.Equal(t, intake.Error, e.Severity)
	require.Equal(t, map[string]string{"host": "db7", "sender": "mon@example.com"}, e.Labels)
}

func TestMailsThatNobodyWroteAsAnAlert(t *testing.T) {
	t.Parallel()
	for headers, why := range map[string]string{
		"Auto-Submitted: auto-replied (vacation)": "automatic answer",
		"X-Autoreply: yes":                        "automatic answer",
		"X-Iris-Message-Id: 17":                   "sent by Iris",
		"Content-Type: multipart/report; report-type=delivery-status; boundary=x": "bounce",
		strings.TrimSpace(strings.Repeat("Received: from a by b\n", 31)):          "loop",
	} {
		_, err := Email(builtin)(request(letter("Subject: a\n"+headers, "x")))
		require.True(t, fault.Is(err, fault.Invalid), headers)
		require.Contains(t, fault.Public(err), why, headers)
	}
	require.Equal(t, "a", only(t, Email(builtin),
		letter("Subject: a\nAuto-Submitted: auto-generated\nX-Auto-Response-Suppress: All", "x")).Key)
}

// TestAnswersBouncesAndInvitations: Exchange's answers are only "auto-generated", as alerts are. The same subject without
// another sign is an alert.
func TestAnswersBouncesAndInvitations(t *testing.T) {
	t.Parallel()
	invitation := "MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x"
	for headers, why := range map[string]string{
		"Subject: Automatic reply: Disk full\nX-Auto-Response-Suppress: All\nAuto-Submitted: auto-generated":        "automatic answer",
		"Subject: =?utf-8?Q?R=C3=A9ponse_automatique_=3A?= Disk full\nX-Auto-Response-Suppress: DR, OOF, AutoReply": "automatic answer",
		"Subject: away\nPrecedence: auto_reply":                                           "automatic answer",
		"Subject: Undeliverable: Disk full\nX-Auto-Response-Suppress: All":                "bounce",
		"Subject: Delivery Status Notification (Failure)\nAuto-Submitted: auto-generated": "bounce",
		"Subject: Planning\n" + invitation:                                                "invitation",
	} {
		_, err := Email(builtin)(request(letter(headers,
			"--x\nContent-Type: text/plain\n\nx\n--x\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n--x--")))
		require.True(t, fault.Is(err, fault.Invalid), headers)
		require.Contains(t, fault.Public(err), why, headers)
	}
	for _, subject := range []string{"Automatic reply: queue is stuck", "Undeliverable: 300 mails in the queue", "Delivery has failed 3 times"} {
		require.Equal(t, subject, only(t, Email(builtin), letter("Subject: "+subject, "x")).Title)
	}
}

// TestThreads: the first mail of a thread is known by its subject, its answers also by its id.
func TestThreads(t *testing.T) {
	t.Parallel()
	first := only(t, Email(builtin), letter("Subject: Disk full\nMessage-Id: <1@mon>", "x"))
	reply := only(t, Email(builtin), letter("Subject: Re: Disk full\nIn-Reply-To: <1@mon>\nReferences: <1@mon>", "x"))
	require.Equal(t, "disk full", first.Key)
	require.Equal(t, "<1@mon>", reply.Key)
	require.Equal(t, []string{first.Key}, reply.OtherKeys)
}

// What a mail says about its recipient is a secret: it is in no context.
func TestContextOfAMail(t *testing.T) {
	t.Parallel()
	e := only(t, Email(builtin), letter("Subject: a\nTo: secret@iris\nCc: secret@iris\nDelivered-To: secret@iris\nReceived: for <secret@iris>\nX-Job: 17", "text"))
	require.NotContains(t, string(e.Context), "secret")
	require.JSONEq(t, `{"subject":"a","sender":"mon@example.com","body":"text","headers":{"date":"Sun, 22 Nov 2026 09:13:57 +0000","from":"mon@example.com","subject":"a","x-job":"17"}}`,
		string(e.Context))
}

func TestPartsOfMailsAreBounded(t *testing.T) {
	t.Parallel()
	nested, end := "", ""
	for k := range 40 {
		nested += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%dx\n\n--b%dx\n", k, k)
		end = fmt.Sprintf("\n--b%dx--", k) + end
	}
	e := only(t, Email(builtin), "Subject: deep\r\n"+strings.ReplaceAll(nested+"\nx"+end, "\n", "\r\n"))
	require.Empty(t, e.Summary)
	e = only(t, Email(builtin), letter("Subject: long", strings.Repeat("x", 10*maxMailText)))
	require.LessOrEqual(t, len(e.Summary), maxMailText+3)
}

func FuzzEmail(f *testing.F) {
	for name, body := range samples(f) {
		if strings.HasPrefix(name, "email-") {
			f.Add(body)
		}
	}
	f.Add([]byte("From: \xff\x00\nReferences: <\xff\x00>\nSubject: =?utf-8?Q?=00=FF?=\nContent-Transfer-Encoding: quoted-printable\n\n=00=FF"))
	f.Fuzz(func(t *testing.T, body []byte) {
		events, err := Email(builtin)(request(string(body)))
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			return
		}
		require.Len(t, events, 1)
		require.True(t, json.Valid(events[0].Context))
		require.LessOrEqual(t, len(events[0].Key), intake.MaxKey)
		for _, text := range []string{events[0].Key, events[0].Title, events[0].Summary, events[0].Labels["sender"]} {
			require.True(t, utf8.ValidString(text) && !strings.Contains(text, "\x00"), "%q", text)
		}
	})
}
