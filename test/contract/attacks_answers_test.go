package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
)

// answerAttacks are the attacks on the answers of people. Their server has vendors.
var answerAttacks = []attack{
	{"1.2", "a user takes an application's mailbox as their contact, so that mails to it open no incident",
		silenceMailbox},
	{"1.2", "a user takes another person's number as their contact and answers as them, or stops their answers",
		takeNumber},
	{"1.4", "a forged Slack button acknowledges another incident than the one whose message it is under",
		pressForeignButton},
	{"1.6", "any application acknowledges as anybody, opens incidents for others and makes up receipts", relayAnything},
	{"1.7", "a GET, as mail scanners send it, claims with Gmail's button, for ever", scanGmailButton},
	{"1.8", "a person with a session mails strangers in the installation's name", mailStrangers},
	{"1.8", "an earlier key of an application goes on working after its keys were replaced", useOldKeys},
}

func TestAttacksOnAnswers(t *testing.T) {
	t.Parallel()
	for _, a := range answerAttacks {
		t.Run(a.item+" "+a.name, func(t *testing.T) {
			t.Parallel()
			a.try(newRelay(t))
		})
	}
}

func silenceMailbox(s *server) {
	s.do(owner, put, "/v0/applications/demo/incident_emails", m{"in@example.com": "pager"}).is(http.StatusOK)
	s.do(bob, put, "/api/v0/users/bob", m{"contacts": m{"email": "in@example.com"}}).is(http.StatusBadRequest)
	s.exec("update user_contacts set destination = 'in@example.com' where mode = 'email' and user_id = (select id from users where name = 'bob')")
	a := s.do(power, post, "/v0/response/email", m{"body": "b",
		"headers": []m{{"name": "From", "value": "x@example.com"}, {"name": "To", "value": "in@example.com"}}})
	require.Regexp(s, "^[0-9]+$", a.empty(http.StatusNoContent).header.Get("X-IRIS-INCIDENT"))
}

func takeNumber(s *server) {
	incident, _ := s.page("sms")
	s.do(bob, put, "/api/v0/users/bob", m{"contacts": m{"sms": annPhone,
		"call": "+15557770001"}}).is(http.StatusNoContent)
	reply := func(from string) answer {
		return s.do(power, post, "/v0/response/twilio/messages",
			url.Values{"From": {from}, "Body": {"claim all"}}.Encode(), "Content-Type", form)
	}
	require.Contains(s, reply("+15557770001").is(http.StatusOK).body, "Failed to identify owner",
		"his new number is not verified")
	s.do(bob, post, "/v1/users/bob/contacts/sms/verify", m{"code": "00000000"}).is(http.StatusBadRequest)
	require.Contains(s, reply(annPhone).is(http.StatusOK).body, "laimed")
	s.acknowledged(incident) // by ann
}

func relayAnything(s *server) {
	s.do(owner, put, "/v0/applications/demo/incident_emails", m{"in@example.com": "pager"}).is(http.StatusOK)
	_, message := s.page("sms")
	text := url.Values{"From": {annPhone}, "Body": {fmt.Sprintf("%d claim", message)}}.Encode()
	s.do(other, post, "/v0/response/twilio/messages", text, "Content-Type", form).is(http.StatusForbidden)
	s.do(other, post, "/v0/response/slack", m{"msg_id": message, "source": "ann",
		"content": "claim"}).is(http.StatusForbidden)
	s.do(other, post, "/v0/response/gmail-oneclick", m{"msg_id": message, "email_address": "ann@example.com",
		"cmd": "claim"}).is(http.StatusForbidden)
	s.do(other, post, "/v0/response/email", m{"body": "b", "headers": []m{{"name": "From", "value": "x@example.com"},
		{"name": "To", "value": "in@example.com"}}}).is(http.StatusForbidden)
	s.do(other, post, "/v0/twilio/deliveryupdate", "MessageSid=SM1&MessageStatus=failed", "Content-Type",
		form).is(http.StatusForbidden)
	s.do(bob, post, "/v0/twilio/deliveryupdate", "MessageSid=SM1&MessageStatus=failed", "Content-Type",
		form).is(http.StatusForbidden)
	require.Zero(s, s.number("select count(*) from incidents where owner_id is not null"))
	require.EqualValues(s, 1, s.number("select count(*) from incidents"))
}

func scanGmailButton(s *server) {
	_, message := s.page("email")
	button, err := auth.NewOneClick(oneClickKey, s.url+"/api/v0/gmail-oneclick/relay")
	require.NoError(s, err)
	path := strings.TrimPrefix(button.URL(message, "ann@example.com", "claim", time.Now().Add(time.Hour)), s.url)
	s.do(anonymous, get, path, nil).is(http.StatusMethodNotAllowed)
	late := strings.TrimPrefix(button.URL(message, "ann@example.com", "claim", time.Now()), s.url)
	s.do(anonymous, post, late, nil).is(http.StatusForbidden)
	require.Zero(s, s.number("select count(*) from incidents where owner_id is not null"))
}

func mailStrangers(s *server) {
	mail := m{"role": "literal_target", "target": "stranger@example.org", "subject": "s", "mode": "email", "body": "b"}
	s.do(bob, post, "/v0/notifications", mail).is(http.StatusForbidden)
	s.do(bob, post, "/v0/notifications",
		m{"target_list": []m{{"role": "literal_target", "target": "stranger@example.org"}}, "subject": "s",
			"mode": "email", "body": "b"}).
		is(http.StatusForbidden)
	require.Zero(s, s.number("select count(*) from notification_requests"))
	s.do(demo, post, "/v0/notifications", mail).is(http.StatusOK)
	s.do(admin, post, "/v0/notifications", mail).is(http.StatusOK)
}

// useOldKeys: the predecessor's route only makes the secondary key the primary key. The command revokes both keys.
func useOldKeys(s *server) {
	s.do(admin, post, "/v0/applications/demo/secondary", nil).is(http.StatusOK)
	second := decode[map[string]string](s.do(admin, get, "/v0/applications/demo/secondary",
		nil).is(http.StatusOK))["key"]
	first := s.keys["demo"]
	s.keys["demo"] = strings.TrimSpace(s.iris(environment(s.T, s.db.Config().ConnString()), "", "app", "rekey", "demo"))
	s.do(demo, get, "/v0/plans", nil).is(http.StatusOK)
	for _, old := range []string{first, second} {
		s.keys["demo"] = old
		s.do(demo, get, "/v0/plans", nil).is(http.StatusUnauthorized)
	}
}
