package irisapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/legacy/irisapi/v0test"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func FuzzNotificationBody(f *testing.F) {
	f.Add([]byte(`{"role":"user","target":"ann","subject":"s","priority":"high","mode":"email","body":"b","context":{"a":"\u0000"},"template":"t"}`))
	f.Add([]byte(`{"target_list":[{"role":"user","target":"ann","bcc":true}],"subject":"s","mode":"email","email_html":"h"}`))
	f.Add([]byte(`{"role":"literal_target","target":"x","subject":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, _ := ParseBody(raw, "")
		n, err := parseNotify(b)
		v0test.Mistake(t, err)
		if err != nil {
			return
		}
		require.True(t, n.Mode != "" || n.Priority != "")
		require.LessOrEqual(t, len(n.Targets), notifications.MaxRecipients)
		require.True(t, wire.Storable(n.Subject+n.Body+n.EmailHTML+n.Template))
	})
}
