package webhook_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors/webhook"
)

// The example of the Standard Webhooks specification.
func TestSignKnownExample(t *testing.T) {
	t.Parallel()
	key, err := webhook.Key(secret)
	require.NoError(t, err)
	got := webhook.Sign([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", got)
}

func TestNewRejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]webhook.Config{
		"no secret":    {},
		"short secret": {Secrets: []string{"whsec_MTIzNA=="}},
		"no base64":    {Secrets: []string{"whsec_*"}},
	} {
		_, err := webhook.New(cfg)
		require.True(t, fault.Is(err, fault.Invalid), name)
		require.NotContains(t, err.Error(), "MTIzNA")
	}
}

func TestPrivateAddressesAreRefusedByDefault(t *testing.T) {
	t.Parallel()
	p := pretend.NewWebhook(pretend.WebhookConfig{}, nil)
	require.NoError(t, p.Start())
	defer p.Close()
	v, err := webhook.New(webhook.Config{Secrets: []string{secret}, AllowHTTP: true})
	require.NoError(t, err)
	defer v.Close()
	r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: p.URL()})
	require.Equal(t, messages.OutcomeRejected, r.Outcome, r.Detail)
	require.Contains(t, r.Detail, "not public")
	require.Zero(t, p.Log().Last())

	strict, err := webhook.New(webhook.Config{Secrets: []string{secret}, AllowPrivate: true})
	require.NoError(t, err)
	defer strict.Close()
	r = strict.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: p.URL()})
	require.Equal(t, messages.OutcomeRejected, r.Outcome)
	require.Contains(t, r.Detail, "https")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	r := rig(t)
	p := r.Backend.(*pretend.Webhook)
	p.Behave(pretend.Behaviour{Do: pretend.Redirect, Location: p.URL() + "/elsewhere"})
	res := r.Vendor.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: p.URL() + "/hook"})
	require.Equal(t, messages.OutcomeRejected, res.Outcome)
	require.Equal(t, int64(1), p.Log().Last())
}

func TestRetryInDoubtSendsTheSameID(t *testing.T) {
	t.Parallel()
	r := rig(t)
	p := r.Backend.(*pretend.Webhook)
	send := func(key string, attempt int) string {
		return r.Vendor.Send(t.Context(), messages.Outbound{MessageID: 1, Attempt: attempt, IdempotencyKey: key,
			Destination: p.URL()}).VendorMessageID
	}
	require.Equal(t, send("1-a", 1), send("1-a", 2))
	require.NotEqual(t, send("1-a", 1), send("1-b", 2))
	require.NotEqual(t, send("", 1), send("", 2))
}

func TestOutcomeOfEachStatusCode(t *testing.T) {
	t.Parallel()
	r := rig(t)
	p := r.Backend.(*pretend.Webhook)
	for status, want := range map[int]struct {
		outcome messages.Outcome
		gone    bool
	}{
		404: {messages.OutcomeRejected, false}, 410: {messages.OutcomeRejected, true}, 422: {messages.OutcomeRejected,
			false},
		500: {messages.OutcomeUnavailable, false}, 502: {messages.OutcomeUnknown, false},
	} {
		p.Behave(pretend.Behaviour{Do: pretend.Reject, Status: status})
		res := r.Vendor.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: p.URL()})
		require.Equal(t, want.outcome, res.Outcome, status)
		require.Equal(t, want.gone, res.DestinationGone, status)
	}
}

func TestBothSecretsSignDuringRotation(t *testing.T) {
	t.Parallel()
	p := pretend.NewWebhook(pretend.WebhookConfig{Secret: secret}, nil)
	require.NoError(t, p.Start())
	defer p.Close()
	for want, secrets := range map[messages.Outcome][]string{
		messages.OutcomeSent:     {"whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", secret},
		messages.OutcomeRejected: {"whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
	} {
		v, err := webhook.New(webhook.Config{Secrets: secrets, AllowPrivate: true, AllowHTTP: true})
		require.NoError(t, err)
		require.Equal(t, want, v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: p.URL()}).Outcome)
		v.Close()
	}
}
