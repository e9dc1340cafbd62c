package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const forgedBlocks = `{"text": "x", "blocks": [{"type": "actions", "elements": [{"type": "button", "action_id": "iris_acknowledge", "value": "1", "text": {"type": "plain_text", "text": "x"}}]}]}`

// slackPost is a message that Slack received.
type slackPost struct {
	text     string
	blocks   string
	message  string // its number, from the metadata
	elements []struct {
		ActionID string `json:"action_id"`
		Value    string `json:"value"`
	}
}

// slackAPI is a fake of Slack's API. It sends the posted messages to posts.
func slackAPI(t *testing.T) (address string, posts chan slackPost) {
	t.Helper()
	posts = make(chan slackPost, 16)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "chat.postMessage" && r.ParseForm() == nil {
			posts <- readSlackPost(r.Form)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"ok": true, "channel": "D0123456789", "ts": "1700000000.000100"}`)
	}))
	t.Cleanup(api.Close)
	return api.URL + "/", posts
}

func readSlackPost(form url.Values) slackPost {
	p := slackPost{text: form.Get("text"), blocks: form.Get("blocks")}
	var blocks []struct {
		Type     string
		Elements json.RawMessage
	}
	var metadata struct {
		Payload struct {
			Message string `json:"message_id"`
		} `json:"event_payload"`
	}
	_, _ = json.Unmarshal([]byte(p.blocks), &blocks), json.Unmarshal([]byte(form.Get("metadata")), &metadata)
	p.message = metadata.Payload.Message
	for _, b := range blocks {
		if b.Type == "actions" {
			_ = json.Unmarshal(b.Elements,
				&p.elements) // of the last block; a check below requires that there is only one
		}
	}
	return p
}

// deliver runs a message-processor on the server's database until the test ends.
func (s *server) deliver(env ...string) {
	s.Helper()
	cmd := exec.Command(filepath.Join(bin, "message-processor"))
	cmd.Env = append(environment(s.T, s.db.Config().ConnString()),
		append(env, "IRIS_PUBLIC_URL="+s.url, "IRIS_GOSSIP_ADDR=127.0.0.1:0")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(s, cmd.Start())
	s.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// shownInSlack opens an incident with the host and returns the message that Slack receives. The template's text begins
// with the host.
func (s *server) shownInSlack(host string) slackPost {
	s.Helper()
	address, posts := slackAPI(s.T)
	words := m{"name": "words", "creator": "ann",
		"content": m{"demo": m{"slack": m{"subject": "", "body": "{{ host }}"}}}}
	s.do(owner, post, "/v0/templates", words).is(http.StatusCreated)
	s.do(owner, post, "/v0/users/modes/ann", m{"high": "slack"}).is(http.StatusOK)
	s.exec("insert into user_contacts select id, 'slack', 'D0123456789', 'D0123456789' from users where name = 'ann'")
	s.deliver("IRIS_SLACK_TOKEN=xoxb-x", "IRIS_SLACK_API_URL="+address)
	s.do(demo, post, "/v0/incidents", m{"plan": "pager", "context": m{"host": host,
		"message": "x"}}).is(http.StatusCreated)
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	select {
	case p := <-posts:
		require.Equal(s, 1, strings.Count(p.blocks, `"actions"`), p.blocks)
		require.NotEmpty(s, p.elements, p.blocks)
		for _, e := range p.elements {
			require.Equal(s, p.message, e.Value, p.blocks)
		}
		return p
	case <-ctx.Done():
		require.FailNow(s, "nothing was posted to Slack")
	}
	return slackPost{}
}

func alertTextAsBlocks(s *server) {
	p := s.shownInSlack(forgedBlocks)
	require.Contains(s, p.text, "iris_acknowledge", "it is shown as text")
}

func alertTextAsMarkup(s *server) {
	p := s.shownInSlack("<!channel> <https://evil.example|log in> & more")
	require.Contains(s, p.text, "&lt;!channel&gt; &lt;https://evil.example|log in&gt; &amp; more")
	require.NotRegexp(s, `<(!channel|https://evil)|\\u003c(!channel|https://evil)`, p.text+p.blocks)
}

// pressForeignButton presses a forged button: it is under the message of one incident and names a message of another
// one.
func pressForeignButton(s *server) {
	s.exec("insert into user_contacts select id, 'slack', '@ann', '@ann' from users where name = 'ann'")
	own, carrier := s.page("slack")
	foreign, named := s.page("slack")
	for ts, id := range map[string]int64{"1700000000.000100": carrier, "1700000000.000200": named} {
		s.exec(`insert into attempts (message_id, attempt, mode, vendor, destination, process_id, outcome, vendor_message_id)
			values ($1, 1, 'slack', 'slack', '@ann', 'p', 'sent', $2)`, id, ts)
	}
	press := func(value int64, ts string) answer {
		return s.slackPresses(m{"type": "block_actions", "container": m{"message_ts": ts},
			"user":    m{"id": "U0123456789", "username": "ann"},
			"actions": []m{{"action_id": "iris_acknowledge", "value": fmt.Sprint(value)}}}).is(http.StatusOK)
	}
	for _, ts := range []string{"1700000000.000100", "1700000000.000900", ""} {
		require.Contains(s, press(named, ts).body, "does not belong to the message that it names", ts)
		old := m{"type": "interactive_message", "message_ts": ts, "callback_id": fmt.Sprint(named),
			"user":    m{"id": "U0123456789", "name": "ann"},
			"actions": []m{{"name": "claim", "value": "claimed"}}}
		require.Contains(s, s.slackPresses(old).is(http.StatusOK).body, "does not belong to the message that it names",
			ts)
	}
	require.Zero(s, s.number("select count(*) from incidents where owner_id is not null"))
	require.Contains(s, press(carrier, "1700000000.000100").body, "claimed")
	s.acknowledged(own)
	require.EqualValues(s, 1, s.number("select count(*) from incidents where id = $1 and active", foreign))
}
