package push_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/push"
)

func page(destination string) messages.Outbound {
	return messages.Outbound{MessageID: 27, Attempt: 1, Mode: users.Push, Destination: destination,
		Subject: "27 disk full", Body: "db1",
		Application: "demo", Priority: users.High, IncidentID: 300, IdempotencyKey: "k"}
}

func TestEveryDeviceIsNotifiedAndOneSuccessIsEnough(t *testing.T) {
	t.Parallel()
	reject, fail := pretend.Behaviour{Do: pretend.Reject}, pretend.Behaviour{Do: pretend.Fail}
	throttle, breaks := pretend.Behaviour{Do: pretend.Throttle,
		RetryAfter: 5}, pretend.Behaviour{Do: pretend.BreakAfter}
	mismatch := pretend.Behaviour{Do: pretend.Reject, Status: 403, Code: "SENDER_ID_MISMATCH"}
	to := func(device string, b pretend.Behaviour) pretend.Behaviour { b.To = device; return b }
	for name, c := range map[string]struct {
		behave []pretend.Behaviour
		want   messages.Outcome
		gone   bool
		off    []string
		says   string
	}{
		"all take it": {nil, messages.OutcomeSent, false, nil, "3 of 3 devices: taken"},
		"one takes it": {[]pretend.Behaviour{to("phone:1", reject), to("tablet:2", fail)}, messages.OutcomeSent,
			false, []string{"phone:1"}, "1 of 3 devices: taken"},
		"none is left": {[]pretend.Behaviour{reject}, messages.OutcomeRejected, true,
			[]string{"phone:1", "tablet:2",
				"watch:3"}, "3 of 3 devices: the device is not registered any more: UNREGISTERED: Requested entity was not found."},
		"of another project": {[]pretend.Behaviour{mismatch}, messages.OutcomeRejected, false, nil,
			"3 of 3 devices: status 403: SENDER_ID_MISMATCH"},
		"one may come back": {[]pretend.Behaviour{to("phone:1", fail), reject}, messages.OutcomeUnavailable, false,
			[]string{"tablet:2", "watch:3"}, "1 of 3 devices: status 503"},
		"one says when": {[]pretend.Behaviour{to("phone:1", throttle), fail}, messages.OutcomeThrottled, false,
			nil, "1 of 3 devices: status 429"},
		"one is in doubt": {[]pretend.Behaviour{to("phone:1", breaks), throttle}, messages.OutcomeUnknown, false,
			nil, "1 of 3 devices: no answer after the request was sent"},
		"out of order, dead": {[]pretend.Behaviour{to("watch:3", reject), fail}, messages.OutcomeUnavailable, false,
			[]string{"watch:3"}, "2 of 3 devices: status 503"},
		"malformed, a device": {[]pretend.Behaviour{{Do: pretend.Reject, Status: 400, Code: "INVALID_ARGUMENT",
			Text: "The registration token is not a valid FCM registration token"}}, messages.OutcomeRejected, true,
			[]string{"phone:1", "tablet:2", "watch:3"}, "malformed"},
		"malformed message": {[]pretend.Behaviour{{Do: pretend.Reject, Status: 400, Code: "INVALID_ARGUMENT",
			Text: "no"}}, messages.OutcomeRejected, false, nil, "status 400: INVALID_ARGUMENT: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, known := rigWith(t)
			r.Backend.Behave(c.behave...)
			res := r.Vendor.Send(t.Context(), page("devices:bob"))
			require.Equal(t, c.want, res.Outcome, res.Detail)
			require.Equal(t, c.gone, res.DestinationGone)
			require.Contains(t, res.Detail, c.says)
			if c.want == messages.OutcomeThrottled {
				require.Equal(t, 5*time.Second, res.RetryAfter)
			}
			close(known.off)
			var off []string
			for token := range known.off {
				off = append(off, token)
			}
			require.ElementsMatch(t, c.off, off, "only what is dead is switched off")
		})
	}
}

func TestNotificationPayload(t *testing.T) {
	t.Parallel()
	r, _ := rigWith(t)
	m := page("devices:ann")
	m.Subject, m.Body = strings.Repeat("\"é", 300), strings.Repeat("\"\\🔥", 4000)
	m.AckURL, m.IncidentURL = "https://iris.example/ack/"+strings.Repeat("x", 200), "https://iris.example/incidents/300"
	require.Equal(t, messages.OutcomeSent, r.Vendor.Send(t.Context(), m).Outcome)
	first := r.Backend.Log().Accepted()[0]
	require.Contains(t, first.Body, m.AckURL)
	require.NotContains(t, first.Body, "\uFFFD")
	require.Equal(t, "high", first.Priority)
	require.Equal(t, messages.OutcomeSent, r.Vendor.Send(t.Context(), m).Outcome)
	require.Equal(t, first.IdempotencyKey, r.Backend.Log().Accepted()[1].IdempotencyKey,
		"a repetition takes the place of the first")
	m.IdempotencyKey = "k2"
	require.Equal(t, messages.OutcomeSent, r.Vendor.Send(t.Context(), m).Outcome)
	require.NotEqual(t, first.IdempotencyKey, r.Backend.Log().Accepted()[2].IdempotencyKey)
	lookups := 0
	for _, e := range r.Backend.Log().Entries() {
		if e.Mode == "lookup" {
			lookups++
		}
	}
	require.Equal(t, 1, lookups, "the access token is used again")
}

func TestAccessTokens(t *testing.T) {
	t.Parallel()
	r, _ := rigWith(t)
	fcm := r.Backend.(*pretend.Push)
	fcm.Behave(pretend.Behaviour{Do: pretend.Fail, To: "lookup", Times: 1})
	res := r.Vendor.Send(t.Context(), page("devices:ann"))
	require.Equal(t, messages.OutcomeUnavailable, res.Outcome, "nothing was sent")
	require.Contains(t, res.Detail, "no access token")
	fcm.Behave(pretend.Behaviour{Do: pretend.Throttle, To: "lookup", Times: 1, RetryAfter: 9})
	res = r.Vendor.Send(t.Context(), page("devices:ann"))
	require.Equal(t, messages.OutcomeThrottled, res.Outcome)
	require.Equal(t, 9*time.Second, res.RetryAfter)
	fcm.Behave(pretend.Behaviour{Do: pretend.BreakAfter, To: "lookup", Times: 1})
	require.Equal(t, messages.OutcomeUnavailable, r.Vendor.Send(t.Context(), page("devices:ann")).Outcome)
	fcm.Behave(pretend.Behaviour{Do: pretend.Hang, To: "lookup", Times: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	require.Equal(t, messages.OutcomeUnavailable, r.Vendor.Send(ctx, page("devices:ann")).Outcome,
		"the caller's time holds")
	cancel()
	require.Empty(t, fcm.Log().Accepted())

	require.Equal(t, messages.OutcomeSent, r.Vendor.Send(t.Context(), page("devices:ann")).Outcome)
	fcm.ForgetTokens()
	res = r.Vendor.Send(t.Context(), page("devices:ann"))
	require.Equal(t, messages.OutcomeUnavailable, res.Outcome, res.Detail)
	require.Equal(t, messages.OutcomeSent, r.Vendor.Send(t.Context(), page("devices:ann")).Outcome, "with a new one")
}

func TestFailedDeviceLookupIsUnavailable(t *testing.T) {
	t.Parallel()
	r, known := rigWith(t)
	known.fail = errors.New("the database is away")
	require.Equal(t, messages.OutcomeUnavailable, r.Vendor.Send(t.Context(), page("devices:ann")).Outcome)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	p := pretend.NewPush(pretend.PushConfig{}, nil)
	require.NoError(t, p.Start())
	defer p.Close()
	good := p.Credentials()
	for name, c := range map[string]push.Config{
		"no devices":     {Credentials: good},
		"no credentials": {Devices: &phones{}},
		"no account": {Devices: &phones{},
			Credentials: `{"type":"authorized_user","project_id":"p","private_key":"k"}`},
		"no project":   {Devices: &phones{}, Credentials: `{"type":"service_account","private_key":"k"}`},
		"no URL":       {Devices: &phones{}, Credentials: good, APIURL: "fcm.googleapis.com"},
		"no token URL": {Devices: &phones{}, Credentials: good, TokenURL: "ftp://x"},
	} {
		_, err := push.New(c)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "BEGIN", name)
	}
	v, err := push.New(push.Config{Devices: &phones{}, Credentials: good, TokenURL: "http://127.0.0.1:1/",
		Account: "two"})
	require.NoError(t, err)
	require.Equal(t, "two", v.Account())
}
