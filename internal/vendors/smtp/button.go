package smtp

import (
	"encoding/json"
	"strings"

	"github.com/iris-oncall/iris/internal/messages"
)

// The button that Gmail shows next to the subject, as schema.org defines it.
type (
	emailMessage struct {
		Context     string        `json:"@context"`
		Type        string        `json:"@type"`
		Description string        `json:"description"`
		Action      confirmAction `json:"potentialAction"`
	}
	confirmAction struct {
		Type    string            `json:"@type"`
		Name    string            `json:"name"`
		Handler httpActionHandler `json:"handler"`
	}
	httpActionHandler struct {
		Type   string `json:"@type"`
		URL    string `json:"url"`
		Method string `json:"method"`
	}
)

// withButton adds Gmail's button to the HTML of a mail, if it gets one.
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
	markup, err := json.Marshal(emailMessage{
		Context: "http://schema.org", Type: "EmailMessage", Description: what,
		Action: confirmAction{Type: "ConfirmAction", Name: "Claim", Handler: httpActionHandler{
			Type: "HttpActionHandler", URL: url, Method: "http://schema.org/HttpRequestMethod/POST",
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
