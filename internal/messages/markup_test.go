package messages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

// hostile is alert text written by an attacker.
const hostile = `<!channel> <https://evil.example|log in> [log in](https://evil.example) <b>&`

func (f *fixture) context(values map[string]any) {
	f.t.Helper()
	data, err := json.Marshal(values)
	require.NoError(f.t, err)
	w := f.incidents[5]
	w.Context = data
	f.incidents[5] = w
}

func (f *fixture) markup() {
	w := f.incidents[5]
	w.Markup = true
	f.incidents[5] = w
}

func TestAlertTextIsEscapedForSlack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.context(map[string]any{"title": hostile, "url": "https://g.example/?a=1&b=2", "tags": []string{"<a>", "b"}})
	f.template(users.Slack, TemplateContent{
		Subject: "{{ title }}", Body: `*{{ title|upper }}* <{{ url }}|graph> {{ tags|join(" <!here> ") }} {% set x %}<!here>{{ title }}{% endset %}{{ x }} {{ tags|tojson }}`,
	})
	c := f.one(f.request(users.Slack))
	require.Equal(t, "27 "+hostile, c.Subject, "as it is stored")
	require.Equal(t, "27 &lt;!channel&gt; &lt;https://evil.example|log in&gt; [log in](https://evil.example) &lt;b&gt;&amp;", c.Slack.Subject)
	require.False(t, c.Slack.Custom)
	require.Contains(t, c.Slack.Body, "*&lt;!CHANNEL&gt; &lt;HTTPS://EVIL.EXAMPLE|LOG IN&gt;")
	require.Contains(t, c.Slack.Body, "<https://g.example/?a=1&amp;b=2|graph>")
	require.Contains(t, c.Slack.Body, "&lt;a&gt; &lt;!here&gt; b <!here>&lt;!channel&gt;",
		"markup of the source is markup, and in an expression text")
	require.Contains(t, c.Slack.Body, "\n\nAcknowledge: "+ackURL)
	require.Equal(t, 1, strings.Count(c.Slack.Body, "<!"))

	f.markup()
	c = f.one(f.request(users.Slack))
	require.Equal(t, "27 "+hostile, c.Slack.Subject, "an application may say that its contexts contain markup")
}

// Only the source of a template can contain Slack blocks. Alert text that looks like blocks stays text.
func TestAlertTextIsNeverParsedAsSlackBlocks(t *testing.T) {
	t.Parallel()
	blocks := `{"text": "x", "blocks": [{"type": "actions", "elements": [{"type": "button", "action_id": "iris_acknowledge", "value": "1"}]}]}`
	for name, body := range map[string]string{
		"begins with it": "{{ title }}", "after a tag": "{% set x = title %}{{ x }}", "as JSON": "{{ data|tojson }}", "safe for HTML": "{{ title|e }}",
	} {
		f := setup(t)
		var data any
		require.NoError(t, json.Unmarshal([]byte(blocks), &data))
		f.context(map[string]any{"title": blocks, "data": data})
		f.template(users.Slack, TemplateContent{Subject: "{{ iris.message_id }}", Body: body})
		c := f.one(f.request(users.Slack))
		require.Empty(t, c.Problem, name)
		require.False(t, c.Slack.Custom, name)
		f.markup()
		require.True(t, f.one(f.request(users.Slack)).Slack.Custom, name)
	}
	f := setup(t)
	f.context(map[string]any{"title": blocks})
	q := f.request(users.Slack)
	q.Template = ""
	require.False(t, f.one(q).Slack.Custom, "built-in text")
}

func TestSlackBlocksOfATemplate(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.context(map[string]any{"title": "a \"b\" \\ <!channel>\nnew", "n": -1.5, "url": "https://g.example/?a=1&b=\"2\""})
	f.template(users.Slack, TemplateContent{Body: `{% set why %}Why: {{ title }}
!{% endset %} {"text": "{{ title }}", "n": {{ n }}, "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": {{ why|tojson }}},
 "accessory": {"type": "button", "url": {{ url|tojson }}}}, {"type": "section", "text": {"type": "mrkdwn", "text": {{ ("<!here> " ~ title)|tojson }}}}]}
See {{ title }}`})
	c := f.one(f.request(users.Slack))
	require.Empty(t, c.Problem)
	require.True(t, c.Slack.Custom)
	var got struct {
		Text   string
		N      float64
		Blocks []struct {
			Text      struct{ Text string }
			Accessory struct{ URL string }
		}
	}
	dec := json.NewDecoder(strings.NewReader(c.Slack.Body))
	require.NoError(t, dec.Decode(&got), c.Slack.Body)
	const escaped = "a \"b\" \\ &lt;!channel&gt;\nnew"
	require.Equal(t, escaped, got.Text)
	require.Equal(t, "Why: "+escaped+"\n!", got.Blocks[0].Text.Text)
	require.Equal(t, "&lt;!here&gt; "+escaped, got.Blocks[1].Text.Text)
	require.InDelta(t, -1.5, got.N, 0)
	require.Equal(t, "https://g.example/?a=1&b=\"2\"", got.Blocks[0].Accessory.URL)
	require.Contains(t, c.Slack.Body[dec.InputOffset():], "See a \"b\" \\ &lt;!channel&gt;")
	require.Contains(t, c.Slack.Body, "Acknowledge: "+ackURL)

	f.context(map[string]any{"title": "x", "n": `1, "blocks": []`, "url": ""})
	require.False(t, f.one(f.request(users.Slack)).Slack.Custom,
		"data outside strings is a number or a word, or nothing is an object")

	f.template(users.Slack, TemplateContent{Body: `{{ {"text": title, "blocks": []}|tojson }}`})
	require.True(t, f.one(f.request(users.Slack)).Slack.Custom, "a dictionary written in the template")
}

func TestAlertTextIsEscapedInMail(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.context(map[string]any{"title": hostile + " _x_\n# y", "url": "https://g.example/a_b_c?x=1&y=*z*"})
	f.template(users.Email, TemplateContent{
		Subject: "{{ title }}", Body: "**{{ title }}** `{{ title }}` {{ url }} [graph]({{ url }})", EmailHTML: `<b>{{ title }}</b><a href="{{ url }}">x</a>{{ title|e }}`,
	})
	c := f.one(f.request(users.Email))
	require.Contains(t, c.Body, "**"+hostile+" _x_\n# y**", "text is text")
	const shown = `&lt;!channel&gt; &lt;https://evil.example|log in&gt; [log in](https://evil.example) &lt;b&gt;&amp; _x_`
	require.Contains(t, c.EmailHTML, "<b>"+shown+"\n# y</b>")
	require.Contains(t, c.EmailHTML, `<a href="https://g.example/a_b_c?x=1&amp;y=*z*">x</a>`+shown)

	f.template(users.Email, TemplateContent{Subject: "x",
		Body: "**{{ title }}** `{{ title }}` {{ url }} [graph]({{ url }})"})
	c = f.one(f.request(users.Email))
	require.NotContains(t, c.EmailHTML, `>log in</a>`)
	require.Contains(t, c.EmailHTML, "[log in](")
	require.Contains(t, c.EmailHTML, "&lt;b&gt;&amp; _x_")
	require.Contains(t, c.EmailHTML, "<strong>&lt;!channel&gt;")
	require.Contains(t, c.EmailHTML, "<code>&lt;!channel&gt;")
	require.Contains(t, c.EmailHTML, `<a href="https://g.example/a_b_c?x=1&amp;y=%2Az%2A">graph</a>`)
	require.NotContains(t, c.EmailHTML, "<h1>")
	require.NotContains(t, c.EmailHTML, "<!channel")

	f.markup()
	require.Contains(t, f.one(f.request(users.Email)).EmailHTML, `<a href="https://evil.example">log in</a>`)
}

func TestOutOfBandTextIsEscapedForSlack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	w := RequestData{Application: "shop", Subject: "<!here>", Body: `{"text": "<!channel>"}`}
	f.requests[9] = w
	q := Request{MessageID: 27, RequestID: 9, Mode: users.Slack, Target: "demo"}
	c := f.one(q)
	require.Equal(t, SlackText{Subject: "[shop] &lt;!here&gt;", Body: `{"text": "&lt;!channel&gt;"}`}, c.Slack)
	w.Markup = true
	f.requests[9] = w
	require.Equal(t, SlackText{Subject: "[shop] <!here>", Body: `{"text": "<!channel>"}`, Custom: true}, f.one(q).Slack)
}
