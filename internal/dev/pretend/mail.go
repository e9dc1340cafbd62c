package pretend

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
)

var messageID = regexp.MustCompile(`^<.+@.+>$`)

// single are the headers that a message must have exactly once.
var single = []string{"From", "To", "Subject", "Date", "Message-Id", "Mime-Version", "Content-Type"}

// readMail checks a mail as strict mail servers do, and describes it in e, which holds the envelope. It returns why a
// server should refuse the mail, "" = nothing is wrong. light does not read subject, parts and other headers.
func (e *Entry) readMail(raw []byte, light bool) string {
	if why := lines(raw); why != "" {
		return why
	}
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return "the header cannot be read"
	}
	for _, name := range single {
		if n := len(m.Header[name]); n != 1 {
			return name + " is there " + strconv.Itoa(n) + " times"
		}
	}
	from, err := m.Header.AddressList("From")
	if err != nil || len(from) != 1 {
		return "From cannot be read"
	}
	if from[0].Address != e.From {
		// A mail in the name of another address must name its real sender.
		sender, err := m.Header.AddressList("Sender")
		if err != nil || len(sender) != 1 || sender[0].Address != e.From {
			return "neither From nor Sender is the envelope's sender"
		}
	}
	e.From = from[0].Address
	to, err := m.Header.AddressList("To")
	switch {
	case err != nil:
		return "To cannot be read"
	case m.Header.Get("X-Iris-Incident-Id") == "":
		// A mail to several people must name them all, except bcc recipients.
	case len(to) != 1 || to[0].Address != e.To:
		return "To is not the recipient"
	}
	if _, err := m.Header.Date(); err != nil {
		return "Date cannot be read"
	}
	if e.VendorID = m.Header.Get("Message-Id"); !messageID.MatchString(e.VendorID) {
		return "Message-ID is malformed"
	}
	e.VendorID = strings.Trim(e.VendorID, "<>")
	e.MessageID, _ = strconv.ParseInt(m.Header.Get("X-Iris-Message-Id"), 10, 64)
	e.IncidentID, _ = strconv.ParseInt(m.Header.Get("X-Iris-Incident-Id"), 10, 64)
	e.IdempotencyKey = m.Header.Get("X-Iris-Idempotency-Key")
	if light {
		return ""
	}
	word := func(name string) string {
		text, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get(name))
		if err != nil {
			return m.Header.Get(name)
		}
		return text
	}
	e.Subject, e.Application, e.Plan, e.Priority = word("Subject"), word("X-Iris-Application"), word("X-Iris-Plan"), word("X-Iris-Priority")
	e.Headers = map[string]string{}
	for name, values := range m.Header {
		e.Headers[name] = strings.Join(values, ", ")
	}
	return e.readPart(textproto.MIMEHeader(m.Header), m.Body, 0)
}

// lines returns what is wrong with the line ends, lengths and header lines.
func lines(raw []byte) string {
	header := true
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\n')
		if end < 0 {
			return "the last line has no end"
		}
		line := raw[:end]
		raw = raw[end+1:]
		if len(line) == 0 || line[len(line)-1] != '\r' {
			return "a bare LF"
		}
		line = line[:len(line)-1]
		switch {
		case bytes.IndexByte(line, '\r') >= 0:
			return "a bare CR"
		case bytes.IndexByte(line, 0) >= 0:
			return "a NUL"
		case len(line) > 998:
			return "a line longer than 998"
		}
		if len(line) == 0 {
			header = false
		}
		if header && bytes.IndexByte(line, ':') < 0 && line[0] != ' ' && line[0] != '\t' {
			return "a header line without a colon"
		}
	}
	return ""
}

// readPart keeps the plain and the HTML text of a part and the parts in it. It returns what is wrong.
func (e *Entry) readPart(h textproto.MIMEHeader, body io.Reader, depth int) string {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || depth > 3 {
		return "a content type cannot be read"
	}
	if strings.HasPrefix(kind, "multipart/") {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if err == io.EOF {
				return ""
			}
			if err != nil {
				return "the parts cannot be read"
			}
			if why := e.readPart(p.Header, p, depth+1); why != "" {
				return why
			}
		}
	}
	switch strings.ToLower(h.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return "a part cannot be decoded"
	}
	decoded := strings.ReplaceAll(string(text), "\r\n", "\n")
	switch kind {
	case "text/plain":
		e.Body = decoded
	case "text/html":
		e.HTML = decoded
	}
	return ""
}
