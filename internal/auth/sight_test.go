package auth

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestWhoSeesContacts(t *testing.T) {
	const hook, phone = "https://hooks.example.com/secret", "+15552220002"
	all := map[users.Mode]string{users.SMS: phone, users.Webhook: hook}
	narrow := map[users.Mode]string{users.SMS: phone, users.Webhook: users.WithoutSecret(users.Webhook, hook)}
	for name, c := range map[string]struct {
		caller Actor
		onCall bool
		want   map[users.Mode]string
	}{
		"the person":                         {Actor{UserID: 1, Username: "Ann"}, false, all},
		"the person who may only read":       {Actor{UserID: 1, Username: "ann", ReadOnly: true}, false, all},
		"an administrator":                   {Actor{UserID: 2, Username: "root", Admin: true}, false, all},
		"an administrator who may only read": {Actor{UserID: 2, Username: "root", Admin: true, ReadOnly: true}, false, all},
		"an administrator's read token": {Actor{UserID: 2, Username: "root", OfAdmin: true, ReadOnly: true}, false,
			map[users.Mode]string{}},
		"somebody else":  {Actor{UserID: 3, Username: "bob"}, false, narrow},
		"an application": {Actor{ApplicationID: 1, Application: "demo"}, false, narrow},
		"an application for nobody known": {Actor{ApplicationID: 1, Application: "demo", Username: "ann"}, false,
			narrow},
		"a reader, the person off call": {Actor{UserID: 3, Username: "bob", ReadOnly: true}, false,
			map[users.Mode]string{}},
		"a reader, the person on call":     {Actor{UserID: 3, Username: "bob", ReadOnly: true}, true, narrow},
		"nobody, where reads need no name": {Actor{}, false, narrow},
	} {
		var onCall []string
		if c.onCall {
			onCall = []string{"ann"}
		}
		s := c.caller.Sight(onCall...)
		require.Equal(t, c.want, s.Contacts("ann", all), name)
		shown := c.want[users.Webhook]
		if shown == "" {
			shown = "[hidden]"
		}
		require.Equal(t, "sent to "+shown, s.Within("sent to "+hook, "ann", users.Webhook, hook), name)
	}
	for _, mode := range users.Modes {
		require.True(t, Actor{Username: "root", Admin: true}.Sight().SeesAllContacts(mode))
		require.False(t, Actor{Username: "bob", ReadOnly: true}.Sight().SeesAllContacts(mode))
		require.Equal(t, !users.Secret(mode), Actor{}.Sight().SeesAllContacts(mode))
	}
	for mode, to := range map[users.Mode]string{users.Webhook: hook, users.Push: "abcdef0123456789"} {
		require.Error(t, users.CheckContact(mode, users.WithoutSecret(mode, to)),
			"what is shown cannot be stored by accident")
	}
}
