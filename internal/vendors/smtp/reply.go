package smtp

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// reply is a server's reply to one command.
type reply struct {
	code     int
	enhanced [3]int // 0.0.0 = none
	lines    []string
}

var errGarbage = errors.New("the server's answer cannot be read")

const maxReplyLines = 128

// readReply reads one reply, of one line or several.
func readReply(r *bufio.Reader) (reply, error) {
	var rep reply
	for range maxReplyLines {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return rep, errGarbage
		}
		if err != nil {
			return rep, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if len(text) < 3 || len(text) > 3 && text[3] != ' ' && text[3] != '-' {
			return rep, errGarbage
		}
		code, err := strconv.Atoi(text[:3])
		if err != nil || code < 200 || code > 599 || rep.code != 0 && code != rep.code {
			return rep, errGarbage
		}
		rep.code = code
		more := len(text) > 3 && text[3] == '-'
		if len(text) > 4 {
			rep.lines = append(rep.lines, text[4:])
		} else {
			rep.lines = append(rep.lines, "")
		}
		if !more {
			rep.enhanced = enhancedCode(code, rep.lines[len(rep.lines)-1])
			return rep, nil
		}
	}
	return rep, errGarbage
}

var enhancedStatus = regexp.MustCompile(`^(\d)\.(\d{1,3})\.(\d{1,3})(?: |$)`)

// enhancedCode parses the class.subject.detail at the start of a line.
func enhancedCode(code int, line string) (e [3]int) {
	m := enhancedStatus.FindStringSubmatch(line)
	if m == nil || m[1] != strconv.Itoa(code/100) {
		return e
	}
	for i := range e {
		e[i], _ = strconv.Atoi(m[i+1]) // digits
	}
	return e
}

func (r reply) ok() bool { return r.code >= 200 && r.code < 300 }

func (r reply) text() string { return strings.Join(r.lines, " ") }

func (r reply) String() string {
	if t := r.text(); t != "" {
		return fmt.Sprintf("%d %s", r.code, t)
	}
	return strconv.Itoa(r.code)
}

// rateWords in a 4xx reply say that we are too fast.
var rateWords = regexp.MustCompile(`(?i)\brate|too (many|much|fast)|throttl|limit exceeded|exceeded.*limit|quota exceeded|slow down`)

// greylisted matches replies that ask for this recipient's mail later, whatever our rate.
var greylisted = regexp.MustCompile(`(?i)gr[ae]y-?\s?list`)

// rate reports whether a temporary refusal is about our rate.
func (r reply) rate() bool {
	if r.code < 400 || r.code > 499 || r.enhanced[1] == 2 || greylisted.MatchString(r.text()) { // x.2.x is about the recipient's mailbox
		return false
	}
	return rateWords.MatchString(r.text()) || r.code == 450 && r.enhanced == [3]int{4, 7, 1} || r.code == 421 &&
		r.enhanced == [3]int{4, 7, 0}
}

var waitWords = regexp.MustCompile(`(?i)\b(?:after|in|wait)\s+(\d{1,5})\s*(s|sec|secs|second|seconds|m|min|mins|minute|minutes)\b`)

// after returns how long the server asks us to wait; 0 = not given.
func (r reply) after() time.Duration {
	found := waitWords.FindStringSubmatch(r.text())
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	if strings.HasPrefix(strings.ToLower(found[2]), "m") {
		return time.Duration(n) * time.Minute
	}
	return time.Duration(n) * time.Second
}

// result maps the refusal of a message, or of its envelope.
func (r reply) result(during string, recipient bool) messages.Result {
	detail := during + ": " + r.String()
	switch {
	case r.rate():
		return vendors.Throttled(r.after(), "%s", detail)
	case r.code < 500 || r.code == 530 || r.code == 535 || r.code == 538 || r.code == 503:
		// 530, 535, 538: the log-in; 503: the order of commands. Neither is the message's fault.
		return vendors.Unavailable("%s", detail)
	case recipient && r.noSuchRecipient():
		return vendors.Gone("%s", detail)
	default:
		return vendors.Rejected("%s", detail)
	}
}

// noSuchRecipient reports whether the recipient does not exist, or no longer exists.
func (r reply) noSuchRecipient() bool {
	if r.enhanced == [3]int{} {
		return r.code == 550 || r.code == 551 || r.code == 553
	}
	switch [2]int{r.enhanced[1], r.enhanced[2]} {
	case [2]int{1, 1}, [2]int{1, 2}, [2]int{1, 3}, [2]int{1, 6}, [2]int{1, 10}, [2]int{2, 1}:
		return true
	}
	return false
}
