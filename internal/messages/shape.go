package messages

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/jinja"
)

// Limits of messages, in characters.
const (
	maxSubject = 255
	MaxBody    = 40000
	MaxSMS     = 1600
	maxCall    = 480
)

const cutNote = "\n\n[The rest was cut off: the message is longer than Iris sends.]"

// shape fits a rendered text to its mode: it cleans and cuts the text, and adds how to acknowledge.
func shape(s *source, d rendered) Content {
	c := Content{
		Subject:     cutRunes(oneLine(jinja.Raw(d.subject)), maxSubject),
		Application: s.application,
		Plan:        s.plan.Name,
		Problem:     d.problem,
	}
	marked := cleanText(d.body)
	if note := jinja.Mark(cleanText(s.Note)); note != "" && d.custom {
		marked += "\n\n" + note
	} else if note != "" {
		marked = strings.TrimSpace(note + "\n\n" + marked)
	}
	body := jinja.Raw(marked)
	switch s.Mode {
	case users.SMS:
		c.Body = smsText(s, c.Subject, body)
		if d.segment != "" {
			c.Body = strings.TrimSpace(cleanText(s.Note) + "\n" + oneSegment(s, oneLine(d.segment)))
		}
		if s.Override != "" {
			c.Body, c.Replaced = cutRunes(cleanText(s.Override), MaxSMS), true
		}
		if s.Prefix != "" {
			c.Body = cutRunes(cleanText(s.Prefix)+" "+c.Body, MaxSMS)
		}
	case users.Call:
		c.Body = callText(c.Subject, body)
	case users.Email:
		c.Sender, c.ShownTo = s.sender(), s.notice.ShownTo
		c.Body = withFooter(body, s.footer(body), MaxBody)
		c.EmailHTML = s.html(marked, htmlMarkup(cleanText(d.html)))
	case users.Slack:
		footer := s.footer(body)
		c.Body = withFooter(body, footer, MaxBody)
		c.Slack = s.slackText(d, marked, footer)
	case users.Drop:
		c.Body = withFooter(body, "", MaxBody)
		c.EmailHTML = cleanText(d.html)
	default:
		c.Body = withFooter(body, "", MaxBody)
	}
	return c
}

// sender is the sender address of an e-mail; "" = the configured one.
func (s *source) sender() string {
	if s.Batch != "" {
		return s.Sender
	}
	if s.outOfBand() {
		return s.notice.Sender
	}
	return s.incident.Sender
}

// cleanText makes text fit to store and send: valid UTF-8 without NUL.
func cleanText(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.ReplaceAll(s, "\x00", "")
}

// footer says how to acknowledge, unless body says so already or there is nothing to acknowledge.
func (s *source) footer(body string) string {
	if s.AckURL == "" || strings.Contains(body, s.AckURL) {
		return ""
	}
	f := "Acknowledge: " + s.AckURL
	if s.Mode == users.Email && s.IncidentURL != "" && !strings.Contains(body, s.IncidentURL) {
		f += "\nIncident: " + s.IncidentURL
	}
	return f
}

// withFooter joins body and footer within limit characters. It cuts the body, never the footer.
func withFooter(body, footer string, limit int) string {
	if footer != "" {
		footer = "\n\n" + footer
	}
	room := limit - utf8.RuneCountInString(footer)
	if utf8.RuneCountInString(body) > room {
		body = body[:runeOffset(body, room-utf8.RuneCountInString(cutNote))] + cutNote
	}
	if footer == "" {
		return body
	}
	if strings.TrimSpace(body) == "" {
		return strings.TrimSpace(footer)
	}
	return strings.TrimRight(body, " \n") + footer
}

// spoken joins subject and body as one text.
func spoken(subject, body string) string {
	body = strings.TrimSpace(body)
	switch {
	case subject == "":
		return body
	case body == "":
		return subject
	case strings.ContainsAny(subject[len(subject)-1:], ".!?:"):
		return subject + " " + body
	}
	return subject + ". " + body
}

func smsText(s *source, subject, body string) string {
	text := spoken(subject, body)
	footer := ""
	if s.AckURL != "" {
		reply, claim := fmt.Sprintf("%d ack", s.MessageID), fmt.Sprintf("%d claim", s.MessageID)
		hasLink, hasReply := strings.Contains(text, s.AckURL), strings.Contains(text, reply) || strings.Contains(text, claim)
		switch {
		case hasLink && hasReply:
		case hasLink:
			footer = "\nReply \"" + reply + "\""
		case hasReply:
			footer = "\nAcknowledge: " + s.AckURL
		default:
			footer = "\nAcknowledge: " + s.AckURL + " or reply \"" + reply + "\""
		}
	}
	room := max(MaxSMS-utf8.RuneCountInString(footer), 0)
	return cutRunes(text, room) + footer
}

var (
	urlRe    = regexp.MustCompile(`\bhttps?://\S+`)
	markupRe = regexp.MustCompile("[*_`#|<>~^\\\\{}\\[\\]]+")
	spaceRe  = regexp.MustCompile(`\s+`)
)

// callText is text for a voice: without addresses, markup and line breaks.
func callText(subject, body string) string {
	body = strings.ReplaceAll(strings.TrimSpace(body), "\n", ". ")
	text := urlRe.ReplaceAllString(spoken(subject, body), "a link")
	text = markupRe.ReplaceAllString(text, " ")
	text = strings.TrimSpace(spaceRe.ReplaceAllString(oneLine(text), " "))
	text = spaceBeforeStop.ReplaceAllString(text, "$1")
	text = repeatedStops.ReplaceAllString(text, ".")
	return cutRunes(text, maxCall)
}

var (
	spaceBeforeStop = regexp.MustCompile(`\s+([.,;:!?])`)
	repeatedStops   = regexp.MustCompile(`(?:\s*\.){2,}`)
)
