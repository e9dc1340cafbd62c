package slack

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Action ids of the buttons. A button's value is the message id.
const (
	ActionAcknowledge    = "iris_acknowledge"
	ActionAcknowledgeAll = "iris_acknowledge_all"
	ActionOpen           = "iris_open" // a link; Slack reports the press, and nothing is done
)

// Slack's limits, in characters.
const (
	maxText     = 3500 // the plain text, for notifications; Slack advises less than 4,000
	maxSection  = 3000
	maxSections = 10
)

// custom is a template's own message: a JSON object of Slack's parts.
type custom struct {
	Text        string             `json:"text"`
	Blocks      slack.Blocks       `json:"blocks"`
	Attachments []slack.Attachment `json:"attachments"`
}

func options(m messages.Outbound) []slack.MsgOption {
	c, isCustom := custom{}, false
	if m.Slack.Custom {
		c, isCustom = parseCustom(m.Slack.Body)
	}
	text, blocks := c.Text, c.Blocks.BlockSet
	if !isCustom {
		text = plainText(m)
		blocks = sections(text)
	}
	if text == "" {
		text = heading(m)
	}
	blocks = append(blocks, buttons(m)...)
	opts := []slack.MsgOption{
		slack.MsgOptionText(vendors.CutRunes(text, maxText), false),
		slack.MsgOptionDisableLinkUnfurl(),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "iris_message", EventPayload: map[string]any{
			"message_id": messageID(m), "incident_id": strconv.FormatInt(int64(m.IncidentID),
				10), "application": vendors.Line(m.Application, 200),
			"attempt": m.Attempt, "idempotency_key": vendors.Line(m.IdempotencyKey, 200),
		}}),
	}
	if len(blocks) > 0 {
		opts = append(opts, slack.MsgOptionBlocks(blocks...))
	}
	if len(c.Attachments) > 0 {
		opts = append(opts, slack.MsgOptionAttachments(c.Attachments...))
	}
	return opts
}

// inMarkup returns subject and body in Slack's markup. A message without SlackText is plain text.
func inMarkup(m messages.Outbound) (subject, body string) {
	if m.Slack.Subject == "" && m.Slack.Body == "" {
		return messages.EscapeSlack(m.Subject), messages.EscapeSlack(m.Body)
	}
	return m.Slack.Subject, m.Slack.Body
}

// parseCustom parses a body that begins with a JSON object. Text after the object (a link that was added) becomes a
// section. It returns false if the body is text.
func parseCustom(body string) (custom, bool) {
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	var parts map[string]any
	if err := dec.Decode(&parts); err != nil {
		return custom{}, false
	}
	kept, err := json.Marshal(withoutOurs(parts))
	if err != nil {
		return custom{}, false
	}
	var c custom
	if err := json.Unmarshal(kept, &c); err != nil {
		return custom{}, false
	}
	// Room is left for two blocks of our own.
	if len(c.Blocks.BlockSet) > 48 || c.Text == "" && len(c.Blocks.BlockSet) == 0 && len(c.Attachments) == 0 {
		return custom{}, false
	}
	if len(c.Blocks.BlockSet) == 0 && c.Text != "" {
		c.Blocks.BlockSet = sections(c.Text)
	}
	if rest := strings.TrimSpace(body[dec.InputOffset():]); rest != "" {
		c.Blocks.BlockSet = append(c.Blocks.BlockSet, sections(vendors.CutRunes(vendors.Text(rest), maxSection))...)
	}
	return c, true
}

// withoutOurs removes buttons that imitate ours: those whose action id begins with iris_, and those of attachments with
// the predecessor's name. A block without remaining elements is removed, too.
func withoutOurs(v any) any {
	switch x := v.(type) {
	case []any:
		kept := make([]any, 0, len(x))
		for _, item := range x {
			if part, ok := item.(map[string]any); ok && (isOurs(part) || emptied(part)) {
				continue
			}
			kept = append(kept, withoutOurs(item))
		}
		return kept
	case map[string]any:
		for key, member := range x {
			if part, ok := member.(map[string]any); ok && isOurs(part) {
				delete(x, key)
				continue
			}
			x[key] = withoutOurs(member)
		}
	}
	return v
}

func isOurs(part map[string]any) bool {
	id, _ := part["action_id"].(string)
	if strings.HasPrefix(strings.ToLower(vendors.Line(id, 100)), "iris_") {
		return true
	}
	name, _ := part["name"].(string)
	kind, _ := part["type"].(string)
	return kind == "button" && slices.Contains([]string{"claim", "claim all"}, strings.ToLower(vendors.Line(name, 100)))
}

// emptied reports whether every element of a block was removed.
func emptied(block map[string]any) bool {
	elements, ok := block["elements"].([]any)
	if !ok || len(elements) == 0 {
		return false
	}
	for _, e := range elements {
		if part, ok := e.(map[string]any); !ok || !isOurs(part) {
			return false
		}
	}
	return true
}

func heading(m messages.Outbound) string {
	subject, _ := inMarkup(m)
	subject = vendors.Line(subject, 1000)
	// Out-of-band subjects begin with the application's name already.
	if prefix := "[" + messages.EscapeSlack(m.Application) + "]"; m.Application != "" && !strings.HasPrefix(subject, prefix) {
		subject = strings.TrimSpace(prefix + " " + subject)
	}
	return subject
}

func plainText(m messages.Outbound) string {
	_, body := inMarkup(m)
	head := heading(m)
	body = strings.TrimSpace(vendors.Text(body))
	switch {
	case m.Subject == "" && head != "":
		head = strings.TrimSpace(head + " " + body)
	case head == "":
		head = body
	case body != "":
		head += "\n" + body
	}
	if head == "" {
		return "(empty message)"
	}
	return head
}

// sections splits text into blocks within Slack's limits, at line ends where possible.
func sections(text string) []slack.Block {
	var blocks []slack.Block
	for text != "" && len(blocks) < maxSections {
		part := text
		if utf8.RuneCountInString(text) > maxSection {
			part = head(text, maxSection)
			if end := strings.LastIndexByte(part, '\n'); end > len(part)/2 {
				part = part[:end+1]
			}
			if len(blocks) == maxSections-1 {
				part = vendors.CutRunes(text, maxSection)
				text = ""
			}
		}
		text = strings.TrimPrefix(text, part)
		if strings.TrimSpace(part) == "" {
			continue
		}
		blocks = append(blocks, slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, part, false,
			false), nil, nil))
	}
	return blocks
}

// head returns the first n characters.
func head(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func buttons(m messages.Outbound) []slack.Block {
	if m.IncidentID == 0 && m.Batch == "" {
		return nil
	}
	plain := func(s string) *slack.TextBlockObject {
		return slack.NewTextBlockObject(slack.PlainTextType, s, false, false)
	}
	var elements []slack.BlockElement
	if m.MessageID != 0 {
		ack := slack.NewButtonBlockElement(ActionAcknowledge, messageID(m), plain("Acknowledge"))
		ack.Style = slack.StylePrimary
		all := slack.NewButtonBlockElement(ActionAcknowledgeAll, messageID(m), plain("Acknowledge all"))
		all.Confirm = slack.NewConfirmationBlockObject(plain("Acknowledge all?"),
			plain("All your active incidents will be acknowledged."), plain("Acknowledge all"), plain("Cancel"))
		elements = append(elements, ack, all)
	}
	if u := m.IncidentURL; u != "" && len(u) <= 3000 {
		open := slack.NewButtonBlockElement(ActionOpen, messageID(m), plain("Open incident"))
		open.URL = u
		elements = append(elements, open)
	}
	if len(elements) == 0 {
		return nil
	}
	return []slack.Block{slack.NewActionBlock("iris:"+messageID(m), elements...)}
}
