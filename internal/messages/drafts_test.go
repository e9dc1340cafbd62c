package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func draft(mode users.Mode, c messages.TemplateContent) messages.Draft {
	return messages.Draft{TemplateContent: c, Mode: mode, Priority: users.High, Target: "ann", Plan: "db",
		Incident: messages.IncidentData{Application: "shop",
			Context: json.RawMessage(`{"host": "db1"}`)}, AckURL: "http://iris.example.com/a/x"}
}

func TestADraftIsRenderedAsDeliveryDoes(t *testing.T) {
	t.Parallel()
	p, err := messages.Render(t.Context(), draft(users.SMS,
		messages.TemplateContent{Body: "{{ host }} of {{ iris.plan }}"}))
	require.NoError(t, err)
	require.Empty(t, p.Errors)
	require.Empty(t, p.Problem)
	require.Equal(t, "1. db1 of db\nAcknowledge: http://iris.example.com/a/x or reply \"1 ack\"", p.Body)
	require.Equal(t, 1, p.Segments)
	require.Equal(t, len(p.Body), p.Characters)
}

func TestErrorsOfADraftHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	p, err := messages.Render(t.Context(), draft(users.Email, messages.TemplateContent{
		Subject: "é {{ hots.x }}", Body: "a\r\nb {{ host", EmailHTML: "<p>\n{% endfor %}",
	}))
	require.NoError(t, err)
	places := [][3]any{}
	for _, e := range p.Errors {
		places = append(places, [3]any{e.Part, e.Line, e.Column})
	}
	require.Equal(t, [][3]any{{"subject", 1, 6}, {"body", 2, 6}, {"email_html", 2, 4}}, places, "%v", p.Errors)
	require.Contains(t, p.Problem, "failed to render")
	require.Contains(t, p.Body, "Application: shop", "the built-in text")

	long, err := messages.Render(t.Context(), draft(users.Email,
		messages.TemplateContent{Body: "{% for n in range(900) %}" + strings.Repeat("x", 900) +
			"{{ host }}{% endfor %}"}))
	require.NoError(t, err)
	require.Empty(t, long.Errors, "a long text is cut, as in delivery")
	broken := draft(users.Email, messages.TemplateContent{Body: "x"})
	broken.Incident.Context = json.RawMessage(`{`)
	p, err = messages.Render(t.Context(), broken)
	require.NoError(t, err)
	require.Equal(t, "context", p.Errors[0].Part)
}
