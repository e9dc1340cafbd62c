package smtp

import (
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
)

func TestGmailButton(t *testing.T) {
	t.Parallel()
	v := &Vendor{cfg: Config{OneClick: func(m messages.Outbound) string {
		if m.IncidentID == 0 {
			return ""
		}
		return "https://iris.example/x?a=1&b=</script>"
	}}}
	const before = "<html><body><p>x</p></BODY></html>"
	got := v.withButton(before, messages.Outbound{IncidentID: 1})
	head, rest, ok := strings.Cut(got, `<script type="application/ld+json">`)
	require.True(t, ok)
	require.Equal(t, "<html><body><p>x</p>", head)
	markup, tail, ok := strings.Cut(rest, "</script>\n")
	require.True(t, ok)
	require.Equal(t, "</BODY></html>", tail)
	require.JSONEq(t, `{"@context":"http://schema.org","@type":"EmailMessage","description":"Claim this incident","potentialAction":{
		"@type":"ConfirmAction","name":"Claim","handler":{"@type":"HttpActionHandler","url":"https://iris.example/x?a=1&b=</script>",
		"method":"http://schema.org/HttpRequestMethod/POST"}}}`, markup)
	require.Equal(t, before, v.withButton(before, messages.Outbound{}), "out of band")
	v.cfg.OneClick = func(messages.Outbound) string { return "https://iris.example/x" }
	require.Contains(t, v.withButton(before, messages.Outbound{Batch: "ab"}),
		`"description":"Claim all incidents of this digest"`)
	require.Equal(t, before, (&Vendor{}).withButton(before, messages.Outbound{IncidentID: 1}))
}

func TestToHeaderListsTheVisibleRecipients(t *testing.T) {
	t.Parallel()
	v, err := New(Config{Addr: "127.0.0.1:25", From: "iris@example.com", TLS: None})
	require.NoError(t, err)
	m := messages.Outbound{MessageID: 1, Attempt: 1, Destination: "carl@example.com", Subject: "s", Body: "b",
		ShownTo: "ann@example.com, bob@example.com, not an address\r\nBcc: x@example.com"}
	env, err := v.build(m, &mail.Address{Address: m.Destination}, time.Now())
	require.NoError(t, err)
	defer env.release()
	sent := env.body.String()
	require.Equal(t, "carl@example.com", env.to, "it goes to one person")
	require.Contains(t, sent, "To: <ann@example.com>, <bob@example.com>\r\n")
	require.NotContains(t, sent, "carl", "the mail does not name a bcc recipient")
	require.NotContains(t, sent, "x@example.com")
	m.ShownTo = ""
	alone, err := v.build(m, &mail.Address{Address: m.Destination}, time.Now())
	require.NoError(t, err)
	defer alone.release()
	require.Contains(t, alone.body.String(), "To: <carl@example.com>\r\n")
}
