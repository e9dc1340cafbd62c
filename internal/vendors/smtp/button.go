package smtp

import (
	"encoding/json"
	"strings"

	"github.com/iris-oncall/iris/internal/messages"
)

// withButton adds the button that Gmail shows next to the subject, as schema.org defines it, to the HTML of a mail.
func (v *Vendor) withButton(html string, m messages.Outbound) string {
	if v.cfg.OneClick == nil {
		return html
	}
	url := v.cfg.OneClick(m)
	if url == "" {
		return html
	}
	what := "Claim this incident"
	if m.Batch != "" {
		what = "Claim all incidents of this digest"
	}
	// The encoder escapes <, > and &, so nothing ends the script early.
	markup, err := json.Marshal(map[string]any{
		"@context": "http://schema.org", "@type": "EmailMessage", "description": what,
		"potentialAction": map[string]any{"@type": "ConfirmAction", "name": "Claim", "handler": map[string]any{
			"@type": "HttpActionHandler", "url": url, "method": "http://schema.org/HttpRequestMethod/POST",
		}},
	})
	if err != nil {
		return html
	}
	script := `<script type="application/ld+json">` + string(markup) + "</script>\n"
	if i := strings.LastIndex(strings.ToLower(html), "</body>"); i >= 0 && len(strings.ToLower(html)) == len(html) {
		return html[:i] + script + html[i:]
	}
	return html + script
}
