package smtp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
)

func TestGmailsButton(t *testing.T) {
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
		"method":"http://schema.org/HttpRequestMethod/GET"}}}`, markup)
	require.Equal(t, before, v.withButton(before, messages.Outbound{}), "out of band")
	require.Equal(t, before, (&Vendor{}).withButton(before, messages.Outbound{IncidentID: 1}))
}
