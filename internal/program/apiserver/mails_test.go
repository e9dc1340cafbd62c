package apiserver

import (
	"net/smtp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// A real client sends mails over TCP: the first opens an incident, its repetition and an answer in its thread change
// nothing, and the tag of a subject resolves it.
func TestMailsOpenAndResolveIncidents(t *testing.T) {
	t.Parallel()
	addr, err := freeport.Addr()
	require.NoError(t, err)
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)),
		HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour},
		Intake: config.Intake{SMTP: config.IntakeSMTP{Addr: addr, Domain: "iris.example.com", MaxSize: 1 << 20,
			PerMinute: 600}}}, server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	s := prepared(t, a)
	token := s.add(intake.Content{Name: "mails", Type: "email", DefaultPlan: "pager"})
	send := func(id, subject string) {
		t.Helper()
		mail := "From: mon@example.com\r\nTo: " + token + "@iris.example.com\r\nMessage-ID: " + id +
			"\r\nDate: Sun, 22 Nov 2026 09:13:57 +0000\r\nSubject: " + subject + "\r\n\r\n/var is full\r\n"
		require.NoError(t, smtp.SendMail(addr, nil, "mon@example.com", []string{token + "@iris.example.com"},
			[]byte(mail)), subject)
	}
	incidents := func() string {
		t.Helper()
		return s.one(`select coalesce(string_agg(i.resolved || ' ' || (c.context->>'title') || ' ' || (c.context->>'sender'), ','), '') from incidents i join incident_contexts c on c.incident_id = i.id`)
	}
	send("<1@mon>", "[FIRING] Disk of db7")
	require.Equal(t, "false [FIRING] Disk of db7 mon@example.com", incidents(), "durable when the mail was accepted")
	send("<1@mon>", "[FIRING] Disk of db7")
	send("<2@mon>", "Re: Disk of db7")
	require.Equal(t, "false [FIRING] Disk of db7 mon@example.com", incidents())
	send("<3@mon>", "[RESOLVED] Disk of db7")
	require.Equal(t, "true [FIRING] Disk of db7 mon@example.com", incidents())
	require.NotContains(t, s.one(`select string_agg(context::text, ',') from incident_contexts`), token)
	require.Eventually(t, func() bool {
		return s.one(`select count(*)::text from integration_payloads where body like '%/var is full%' and body not like '%iris_in_%'`) == "4"
	}, servertest.Patience, 20*time.Millisecond)
	require.ErrorContains(t, smtp.SendMail(addr, nil, "mon@example.com", []string{"iris_in_0@iris.example.com"},
		[]byte("Subject: x\r\n\r\nx")), "550")

	code, answer := s.send("/v1/hooks/email", "Bearer "+token, "From: a@b\nSubject: by HTTP\n\nx")
	require.Equal(t, 200, code, answer)
	require.Contains(t, outcome(t, answer), "opened ")
}
