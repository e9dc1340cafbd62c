package sources

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// Bounds of what is read of a mail.
const (
	maxParts       = 100
	maxPartDepth   = 8
	maxMailText    = 64 << 10 // bytes
	maxMailHeaders = 60
	maxHeaderText  = 1000 // bytes of a header
	maxReceived    = 30   // servers that passed the mail on; more is a loop
)

// KeyParameter is the name of the query parameter with the key that the recipient's address has, after a plus sign.
const KeyParameter = "key"

// Email returns a decoder of mails as they were sent (RFC 5322). The subject is the title, the text the summary. The key
// is that of the address, else the first reference of its thread, else the subject without what changes from mail to
// mail. Only a word at the begin of the subject, a recipe, or the expressions of the integration, resolve or
// acknowledge. Automatic answers, invitations, bounces and mails of Iris are Invalid faults.
func Email(book *recipes.Book) intake.Decoder {
	return func(r intake.Request) ([]intake.Event, error) {
		x, err := intake.Parse(r.Settings)
		if err != nil {
			return nil, err
		}
		return reader{book, x, r.At}.mail(r)
	}
}

func (g reader) mail(r intake.Request) ([]intake.Event, error) {
	m, err := mail.ReadMessage(bytes.NewReader(r.Body))
	if err != nil || firstOf(m.Header.Get("From"), m.Header.Get("Subject"), m.Header.Get("Date"), m.Header.Get("Message-Id")) == "" {
		return nil, fault.New(fault.Invalid,
			"the body must be a mail: a header with From or Subject, an empty line and a text")
	}
	if why := automatic(m.Header); why != "" {
		return nil, fault.New(fault.Invalid, why)
	}
	texts := mailText(textproto.MIMEHeader(m.Header), m.Body, &partBudget{left: maxParts}, 0)
	if texts.invitation {
		return nil, fault.New(fault.Invalid, "the mail is an invitation of a calendar, or an answer to one")
	}
	body, subject := texts.text(), decodedWords(m.Header.Get("Subject"))
	seen := mailContext{Subject: subject, Sender: sender(m.Header), Body: body, Headers: mailHeaders(m.Header),
		Addresses: linksIn(cmp.Or(texts.html, texts.plain))}
	context, err := json.Marshal(seen)
	if err != nil {
		return nil, err
	}
	read, use := g.recipe(context, g.book.Mail)
	found := g.x.Find(context).Over(read.Facts)
	if found.Ignore {
		return nil, nil
	}
	state, bare := subjectStatus(subject)
	byAddress, byThread, bySubject := storable(r.Query(KeyParameter)), storable(thread(m.Header)), strings.ToLower(bare)
	e := intake.Event{Status: state, Recipe: use,
		Title:   humanize.Shorten(firstOf(found.Title, subject, "Mail from "+seen.Sender), maxSummary),
		Summary: firstOf(found.Summary, body), Labels: map[string]string{}, Context: context,
		Links: addLink(nil, found.Link, "Source"), Failures: found.Failures,
		Key: ShortKey(firstOf(byAddress, found.Key, byThread, bySubject)),
	}
	if g.x.Key != "" {
		e.Key = ShortKey(firstOf(found.Key, byAddress, byThread, bySubject))
	}
	// The first mail of a thread has no reference, and before a recipe the key was another.
	for _, other := range []string{byThread, bySubject} {
		if other = ShortKey(other); other != "" && other != e.Key && byAddress == "" && g.x.Key == "" {
			e.OtherKeys = append(e.OtherKeys, other)
		}
	}
	if found.Status != "" {
		e.SayStatus(found.Status)
	}
	e.SaySeverity(found.Severity)
	if seen.Sender != "" {
		e.Labels["sender"] = seen.Sender
	}
	for name, value := range found.Labels {
		e.Labels[name] = value
	}
	if at, err := m.Header.Date(); err == nil && at.Year() > 1 && at.Year() <= 9999 {
		e.StartsAt = at.UTC()
	}
	return []intake.Event{e}, nil
}

// mailContext is a mail as templates and expressions see it.
type mailContext struct {
	Subject string            `json:"subject"`
	Sender  string            `json:"sender"`
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"` // by lower-case name
	// Addresses are those of the web in its text. A member named links would be taken for the links of the incident.
	Addresses []string `json:"addresses,omitempty"`
}

const (
	maxMailLinks = 20
	maxMailLink  = 2000 // bytes
)

// webAddress matches an address in a text or in HTML.
var webAddress = regexp.MustCompile(`https?://[^\s"'<>()\[\]]+`)

// linksIn returns the first addresses in the text of a mail, each once.
func linksIn(text string) (out []string) {
	for _, found := range webAddress.FindAllString(text, 10*maxMailLinks) {
		address := strings.TrimRight(html.UnescapeString(found), ".,;:!?")
		if len(address) <= maxMailLink && len(out) < maxMailLinks && !slices.Contains(out, address) {
			out = append(out, address)
		}
	}
	return out
}

// automatic returns why a mail that another program answered, returned or sent for Iris is refused; "" = it is not. A
// mail that is only generated automatically is a usual alert.
func automatic(h mail.Header) string {
	kind, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	subject, from := decodedWords(h.Get("Subject")), strings.ToLower(sender(h))
	generated := h.Get("X-Auto-Response-Suppress") != "" || h.Get("Auto-Submitted") != "" && !strings.EqualFold(h.Get("Auto-Submitted"), "no")
	switch {
	case h.Get("X-Iris-Message-Id") != "":
		return "the mail was sent by Iris: it would open an incident about an incident"
	case strings.HasPrefix(strings.ToLower(h.Get("Auto-Submitted")),
		"auto-replied"), h.Get("X-Autoreply") != "", h.Get("X-Autorespond") != "",
		strings.EqualFold(h.Get("Precedence"), "auto_reply"), generated && answerSubject.MatchString(subject):
		return "the mail is an automatic answer"
	case kind == "multipart/report" && params["report-type"] != "feedback-report", h.Get("X-Failed-Recipients") != "",
		strings.HasPrefix(from, "mailer-daemon@"),
		bounceSubject.MatchString(subject) && (generated || strings.HasPrefix(from, "postmaster@")):
		return "the mail is a bounce"
	case len(h["Received"]) > maxReceived:
		return "the mail was passed on too often: it is in a loop"
	}
	return ""
}

// Subjects of automatic answers, as Exchange and Outlook write them in the languages that they know best, and of bounces.
// They count only with another sign, because people may name an alert so.
var (
	answerSubject = regexp.MustCompile(`(?i)^(automatic reply|out of office|auto(matic)?[ -]?response|automatische antwort|abwesend|abwesenheit\S*|réponse automatique|respuesta automática|risposta automatica|automatisch antwoord|resposta automática|autosvar|automaattinen vastaus|autoodpowiedź|automatická odpověď|автоматический ответ|自動応答|自动答复|자동 회신)\s*[:：]`)
	bounceSubject = regexp.MustCompile(`(?i)^(undeliverable|undelivered mail|delivery status notification|delivery (has )?failed|mail delivery (failed|failure|subsystem)|failure notice|returned mail|unzustellbar|nicht zustellbar|non remis|no se puede entregar)\b`)
)

// sender returns the address of the first author, or the header as it is.
func sender(h mail.Header) string {
	if list, err := (&mail.AddressParser{WordDecoder: words()}).ParseList(h.Get("From")); err == nil && len(list) > 0 {
		return storable(list[0].Address)
	}
	return storable(h.Get("From"))
}

// unshown are headers that say how a mail was carried. They may name the recipient, whose address is a secret.
var unshown = regexp.MustCompile(`(?i)^(received|delivered-to|x-original-to|envelope-to|return-path|to|cc|bcc|dkim-signature|arc-.*|x-cron-env|authentication-results|received-spf|x-google-.*|x-received|x-forwarded-.*)$`)

func mailHeaders(h mail.Header) map[string]string {
	out := map[string]string{}
	names := make([]string, 0, len(h))
	for name := range h {
		if !unshown.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxMailHeaders)] {
		out[strings.ToLower(name)] = humanize.Shorten(decodedWords(h[name][0]), maxHeaderText)
	}
	return out
}

// reference matches an id of a message. Alertmanager's threads have a date at the end that changes every day.
var (
	reference = regexp.MustCompile(`<[^<>\s]+>`)
	threadDay = regexp.MustCompile(`^<alert-([0-9a-f]{16})-\d{4}-\d{2}-\d{2}@`)
)

// thread returns what identifies the thread of a mail; "" = it begins one.
func thread(h mail.Header) string {
	first := firstOf(reference.FindString(h.Get("References")), reference.FindString(h.Get("In-Reply-To")))
	if m := threadDay.FindStringSubmatch(first); m != nil {
		return "<alert-" + m[1] + ">"
	}
	return first
}

// The parts of a subject that change from mail to mail of one alert: prefixes of answers, a state with an optional
// count, such as "[FIRING:2]", "RECOVERY:" or that of Nagios, and surrounding stars.
var (
	replyPrefix = regexp.MustCompile(`(?i)^\s*(re|fwd?|aw|wg)\s*:\s*`)
	stateTag    = regexp.MustCompile(`(?i)^\W{0,3}(firing|resolved|recovery|recovered|ok|alerting|alert|problem|acknowledged|no ?data|down|up|triggered|closed|cleared|fixed|solved|critical|warning|error|failed|failure)\s*(?::\s*\d+)?(?:\s*[\]:*|]+|\s+-)\s*`)
	nagiosTitle = regexp.MustCompile(`^\*\* (PROBLEM|RECOVERY|ACKNOWLEDGEMENT) (.+) is [A-Z]+ \*\*$`)
)

// subjectStatus returns the status that a tag at the begin of the subject says, and the subject without what changes.
func subjectStatus(subject string) (intake.Status, string) {
	bare := subject
	for replyPrefix.MatchString(bare) {
		bare = replyPrefix.ReplaceAllString(bare, "")
	}
	state := intake.Firing
	if m := nagiosTitle.FindStringSubmatch(strings.TrimSpace(bare)); m != nil {
		state, _ = intake.StatusOf(m[1])
		return state, m[2]
	}
	if m := stateTag.FindStringSubmatch(bare); m != nil {
		state, _ = intake.StatusOf(m[1])
		bare = bare[len(m[0]):]
	}
	return state, strings.TrimSpace(strings.Trim(bare, "* "))
}

// words decodes encoded words of all character sets.
func words() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
		e, err := htmlindex.Get(charset)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(in), nil
	}}
}

// decodedWords decodes a header. One that cannot be decoded stays as it is.
func decodedWords(header string) string {
	text, err := words().DecodeHeader(header)
	if err != nil {
		text = header
	}
	return storable(text)
}

// storable returns a text as PostgreSQL stores it: valid UTF-8 without NUL, and here without spaces around it.
func storable(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
}

// mailTexts are the texts of a mail.
type mailTexts struct {
	plain, html string
	invitation  bool // of a calendar
}

// text returns the plain text, or else the text of the HTML.
func (t mailTexts) text() string {
	return strings.TrimSpace(strings.ReplaceAll(humanize.Shorten(cmp.Or(strings.TrimSpace(t.plain),
		withoutTags(t.html)), maxMailText), "\r\n", "\n"))
}

// partBudget bounds the parts of a mail that are read.
type partBudget struct{ left int }

// mailText returns the first texts of a part and the parts inside it. What cannot be read is left out.
func mailText(h textproto.MIMEHeader, body io.Reader, budget *partBudget, depth int) (found mailTexts) {
	if budget.left--; budget.left < 0 || depth > maxPartDepth {
		return found
	}
	kind, params, err := mime.ParseMediaType(cmp.Or(h.Get("Content-Type"), "text/plain"))
	if err != nil && kind == "" {
		kind = "text/plain"
	}
	disposition, _, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	switch {
	case strings.HasPrefix(kind, "multipart/") && params["boundary"] != "":
		parts := multipart.NewReader(body, params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err != nil {
				return found
			}
			inner := mailText(part.Header, part, budget, depth+1)
			found.plain, found.html = cmp.Or(found.plain, inner.plain), cmp.Or(found.html, inner.html)
			found.invitation = found.invitation || inner.invitation
		}
	case disposition == "attachment":
	case kind == "text/calendar":
		found.invitation = params["method"] != ""
	case kind == "text/plain":
		found.plain = partText(h, params["charset"], body)
	case kind == "text/html":
		found.html = partText(h, params["charset"], body)
	}
	return found
}

// partText decodes the text of a part, up to maxMailText bytes and some more of HTML.
func partText(h textproto.MIMEHeader, charset string, body io.Reader) string {
	encoded := true
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	default:
		encoded = false
	}
	// A part in UTF-16 is always encoded: one that is not came as a whole mail in UTF-16, which has been decoded.
	if charset != "" && (encoded || !strings.HasPrefix(strings.ToLower(charset), "utf-16")) {
		if e, err := htmlindex.Get(charset); err == nil {
			body = e.NewDecoder().Reader(body)
		}
	}
	raw, _ := io.ReadAll(io.LimitReader(body, 4*maxMailText)) // what was read before an error counts
	return storable(string(raw))
}

// withoutTags returns the text of HTML, with a line for each block.
func withoutTags(source string) string {
	var out strings.Builder
	hidden := 0
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(manyLines.ReplaceAllString(blanks.ReplaceAllString(out.String(), " "), "\n"))
		case html.TextToken:
			if hidden == 0 {
				out.Write(lineEnds.ReplaceAll(tokens.Text(), []byte(" ")))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			if unread(string(name)) {
				hidden++
			} else if block(string(name)) {
				out.WriteByte('\n')
			} else if string(name) == "td" || string(name) == "th" {
				out.WriteByte(' ')
			}
		case html.EndTagToken:
			if name, _ := tokens.TagName(); unread(string(name)) {
				hidden = max(0, hidden-1)
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

var (
	blanks    = regexp.MustCompile(`[ \t\x{00A0}]+`)
	lineEnds  = regexp.MustCompile(`[\r\n]+`)
	manyLines = regexp.MustCompile(`\s*\n\s*`)
)

// unread reports whether people do not see the content of an element.
func unread(name string) bool {
	return name == "script" || name == "style" || name == "title"
}

// block reports whether an element begins a line.
func block(name string) bool {
	return slices.Contains([]string{"p", "br", "div", "tr", "li", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
		"pre", "blockquote", "ul", "ol"}, name)
}
