package pretend

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// SlackConfig of the workspace.
type SlackConfig struct {
	Addr  string // "" = a free port on 127.0.0.1
	Token string // the bot's; "" = any
	// SigningSecret signs pressed buttons.
	SigningSecret string
	// Channels that exist (#ops, @ann, ids). Empty = all do.
	Channels []string
	// People maps e-mail addresses to user ids. Other addresses get a generated id, unless OnlyPeople.
	People     map[string]string
	OnlyPeople bool
	// Members is the answer to users.list, PageSize at a time (0 = all at once).
	Members  []SlackMember
	PageSize int
	Rate     Rate
}

// SlackMember is a member of the workspace as users.list has them.
type SlackMember struct {
	ID, Name, RealName, Email, Phone, Image string
	Deleted, Bot                            bool
}

// Slack simulates chat.postMessage, users.lookupByEmail, users.list, users.info and auth.test, and presses buttons.
type Slack struct {
	web
	cfg    SlackConfig
	posts  atomic.Int64
	emails sync.Map // user id -> e-mail address that was looked up
}

// NewSlack returns a workspace that is not started. log nil = one of its own.
func NewSlack(cfg SlackConfig, log *Log) *Slack {
	s := &Slack{cfg: cfg}
	s.web = web{
		conduct: newConduct(cfg.Rate, log), name: SlackVendor, addr: cfg.Addr, dialect: s, lookups: "/api/users.",
		rejection: refusal{status: http.StatusOK, code: "channel_not_found"},
	}
	return s
}

// URL is the API's base address, with the final slash.
func (s *Slack) URL() string { return s.web.URL() + "/api/" }

func slackError(word string) *refusal { return &refusal{status: http.StatusOK, code: word} }

func (s *Slack) read(r *http.Request, body []byte) (Entry, *refusal) {
	e := Entry{Mode: "slack"}
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	if strings.HasPrefix(r.URL.Path, s.lookups) {
		e.Mode = "lookup"
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return e, slackError("invalid_form_data")
	}
	for k, v := range r.URL.Query() {
		form[k] = v
	}
	token := form.Get("token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	switch {
	case token == "":
		return e, slackError("not_authed")
	case s.cfg.Token != "" && token != s.cfg.Token:
		return e, slackError("invalid_auth")
	}
	switch method {
	case "chat.postMessage":
		return s.readPost(e, form)
	case "users.lookupByEmail":
		e.Subject = form.Get("email")
		if e.VendorID = s.idOf(e.Subject); e.VendorID == "" {
			return e, slackError("users_not_found")
		}
		return e, nil
	case "users.list":
		e.To, e.Subject = slackList, form.Get("cursor")
		return e, nil
	case "auth.test":
		e.Mode, e.To = "lookup", slackAuth
		return e, nil
	case "users.info":
		e.VendorID = form.Get("user")
		var ok bool
		if e.Subject, ok = s.Email(e.VendorID); !ok {
			return e, slackError("user_not_found")
		}
		return e, nil
	}
	return e, slackError("unknown_method")
}

// idOf returns the user id of an e-mail address; "" = there is none.
func (s *Slack) idOf(email string) string {
	email = strings.ToLower(email)
	userID := s.cfg.People[email]
	if userID == "" && !s.cfg.OnlyPeople && strings.Contains(email, "@") {
		h := fnv.New32a()
		_, _ = h.Write([]byte(email))
		userID = fmt.Sprintf("U%08X", h.Sum32())
	}
	if userID != "" {
		s.emails.Store(userID, email)
	}
	return userID
}

// Email returns the address of a user, if it was looked up or configured.
func (s *Slack) Email(userID string) (string, bool) {
	for email, have := range s.cfg.People {
		if have == userID {
			return email, true
		}
	}
	email, ok := s.emails.Load(userID)
	if !ok {
		return "", false
	}
	return email.(string), true
}

func (s *Slack) readPost(e Entry, form url.Values) (Entry, *refusal) {
	e.To, e.Body = form.Get("channel"), form.Get("text")
	var meta struct {
		EventPayload struct {
			MessageID      string `json:"message_id"`
			IncidentID     string `json:"incident_id"`
			Application    string `json:"application"`
			Attempt        int    `json:"attempt"`
			IdempotencyKey string `json:"idempotency_key"`
		} `json:"event_payload"`
	}
	if text := form.Get("metadata"); text != "" {
		if err := json.Unmarshal([]byte(text), &meta); err != nil {
			return e, slackError("invalid_metadata_format")
		}
	}
	p := meta.EventPayload
	e.MessageID, _ = strconv.ParseInt(p.MessageID, 10, 64)
	e.IncidentID, _ = strconv.ParseInt(p.IncidentID, 10, 64)
	e.Application, e.Attempt, e.IdempotencyKey = p.Application, p.Attempt, p.IdempotencyKey
	if !s.exists(e.To) {
		return e, slackError("channel_not_found")
	}
	if utf8.RuneCountInString(e.Body) > 40000 {
		return e, slackError("msg_too_long")
	}
	if text := form.Get("blocks"); text != "" {
		var blocks []slackBlock
		if err := json.Unmarshal([]byte(text), &blocks); err != nil {
			return e, slackError("invalid_blocks_format")
		}
		if why := checkBlocks(blocks, &e); why != "" {
			return e, &refusal{status: http.StatusOK, code: "invalid_blocks", text: why}
		}
	} else if e.Body == "" && form.Get("attachments") == "" {
		return e, slackError("no_text")
	}
	e.VendorID = fmt.Sprintf("%d.%06d", time.Now().Unix(), s.posts.Add(1))
	return e, nil
}

func (s *Slack) exists(channel string) bool {
	if channel == "" || strings.ContainsAny(channel, " \r\n\t") {
		return false
	}
	return len(s.cfg.Channels) == 0 || slices.Contains(s.cfg.Channels, channel) ||
		slices.Contains(slices.Collect(maps.Values(s.cfg.People)), channel)
}

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type slackBlock struct {
	Type     string     `json:"type"`
	BlockID  string     `json:"block_id"`
	Text     *slackText `json:"text"`
	Elements []struct {
		Type     string          `json:"type"`
		ActionID string          `json:"action_id"`
		Value    string          `json:"value"`
		URL      string          `json:"url"`
		Style    string          `json:"style"`
		Text     json.RawMessage `json:"text"`
	} `json:"elements"`
}

// checkBlocks applies Slack's limits and collects the buttons. It returns what is wrong.
func checkBlocks(blocks []slackBlock, e *Entry) string {
	if len(blocks) > 50 {
		return "more than 50 blocks"
	}
	ids, actions := map[string]bool{}, map[string]bool{}
	for _, b := range blocks {
		if b.BlockID != "" && ids[b.BlockID] || len(b.BlockID) > 255 {
			return "block_id is repeated or too long"
		}
		ids[b.BlockID] = true
		switch b.Type {
		case "section":
			if b.Text == nil || b.Text.Text == "" || utf8.RuneCountInString(b.Text.Text) > 3000 {
				return "a section's text is empty or longer than 3000"
			}
			if b.Text.Type != "mrkdwn" && b.Text.Type != "plain_text" {
				return "a section's text is of no known type"
			}
		case "actions":
			if len(b.Elements) == 0 || len(b.Elements) > 25 {
				return "an actions block has no or too many elements"
			}
			for _, el := range b.Elements {
				var label slackText
				_ = json.Unmarshal(el.Text, &label)
				switch {
				case el.Type != "button":
				case label.Type != "plain_text" || label.Text == "" || utf8.RuneCountInString(label.Text) > 75:
					return "a button's label is missing or longer than 75"
				case len(el.Value) > 2000 || len(el.URL) > 3000 || el.ActionID == "" || len(el.ActionID) > 255:
					return "a button's value, url or action_id is of a wrong length"
				case actions[el.ActionID]:
					return "an action_id is repeated"
				default:
					actions[el.ActionID] = true
					e.Buttons = append(e.Buttons, Button{ActionID: el.ActionID, Text: label.Text, Value: el.Value,
						URL: el.URL})
				}
			}
		case "divider", "context", "header", "image", "rich_text", "markdown":
		default:
			return "a block is of no known type"
		}
	}
	return ""
}

func (s *Slack) answer(w http.ResponseWriter, e Entry) {
	if e.To == slackList {
		s.list(w, e.Subject)
		return
	}
	if e.To == slackAuth {
		writeJSON(w, http.StatusOK, map[string]any{"ok": true, "user": "iris", "user_id": "UPRETEND1",
			"team": "pretend"})
		return
	}
	if e.Mode == "lookup" {
		name, _, _ := strings.Cut(e.Subject, "@")
		writeJSON(w, http.StatusOK, map[string]any{"ok": true, "user": map[string]any{
			"id": e.VendorID, "name": name, "profile": map[string]any{"email": e.Subject},
		}})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"ok": true, "channel": "CPRETEND01", "ts": e.VendorID, "message": map[string]any{"text": e.Body,
			"ts": e.VendorID},
	})
}

// slackAuth marks the log's entries of auth.test.
const slackAuth = "auth.test"

// slackList marks the log's entries of users.list.
const slackList = "users.list"

// list answers a page of members; the cursor is the number of the first.
func (s *Slack) list(w http.ResponseWriter, cursor string) {
	from, _ := strconv.Atoi(cursor)
	from = min(max(from, 0), len(s.cfg.Members))
	to, next := len(s.cfg.Members), ""
	if s.cfg.PageSize > 0 && from+s.cfg.PageSize < to {
		to = from + s.cfg.PageSize
		next = strconv.Itoa(to)
	}
	members := []any{}
	for _, m := range s.cfg.Members[from:to] {
		members = append(members, map[string]any{
			"id": m.ID, "name": m.Name, "deleted": m.Deleted, "is_bot": m.Bot, "real_name": m.RealName,
			"profile": map[string]any{"email": m.Email, "phone": m.Phone, "image_192": m.Image},
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "members": members,
		"response_metadata": map[string]any{"next_cursor": next}})
}

func (s *Slack) refuse(w http.ResponseWriter, r refusal) {
	switch r.status {
	case http.StatusOK:
		writeJSON(w, http.StatusOK, map[string]any{"ok": false, "error": r.code})
	case http.StatusTooManyRequests:
		writeJSON(w, r.status, map[string]any{"ok": false, "error": "ratelimited"})
	default:
		http.Error(w, "<html>"+r.text+"</html>", r.status)
	}
}

// SlackInteractionsPath is where pressed buttons are posted, below the public URL.
const SlackInteractionsPath = "/api/v0/slack/messages/relay"

// Press presses a button of the message that the log has under entryID, as the given user (Slack's id and name), and
// posts the signed payload to target. It returns the answer's status and body.
func (s *Slack) Press(ctx context.Context, target string, entryID int64, actionID, userID, userName string) (int, string, error) {
	e, ok := s.log.Entry(entryID)
	if !ok || e.Vendor != SlackVendor {
		return 0, "", fmt.Errorf("no Slack message %d", entryID)
	}
	for _, b := range e.Buttons {
		if b.ActionID != actionID {
			continue
		}
		payload, err := json.Marshal(map[string]any{
			"type": "block_actions", "token": "pretend", "trigger_id": "1.2.3", "response_url": s.web.URL() +
				"/response",
			"user":      map[string]any{"id": userID, "username": userName, "name": userName, "team_id": "TPRETEND1"},
			"channel":   map[string]any{"id": "CPRETEND01", "name": "directmessage"},
			"container": map[string]any{"type": "message", "message_ts": e.VendorID},
			"message":   map[string]any{"ts": e.VendorID, "text": e.Body},
			"actions": []any{map[string]any{
				"type": "button", "action_id": b.ActionID, "block_id": "iris:" +
					b.Value, "value": b.Value, "action_ts": e.VendorID,
			}},
		})
		if err != nil {
			return 0, "", err
		}
		return s.interact(ctx, target, payload)
	}
	return 0, "", fmt.Errorf("message %d has no button %q", entryID, actionID)
}

// interact posts a signed payload to target.
func (s *Slack) interact(ctx context.Context, target string, payload []byte) (int, string, error) {
	body := url.Values{"payload": {string(payload)}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	now := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.cfg.SigningSecret))
	_, _ = mac.Write([]byte("v0:" + now + ":" + body))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Slack-Request-Timestamp", now)
	req.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return s.post(ctx, req)
}
