package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// mailbox is a minimal SMTP server: it accepts every e-mail, reports it to deliver and stores nothing. It shares the
// machine with the measured servers, so it does as little as possible: it supports pipelining, reads the headers and
// skips the bodies.
type mailbox struct {
	deliver func(delivery)
}

const (
	maxMailLine = 64 << 10
	// mailPatience is how long a client may send nothing.
	mailPatience = time.Minute
)

// serve accepts connections until ctx ends or the listener fails.
func (m *mailbox) serve(ctx context.Context, l net.Listener) error {
	stopped := ctx.Err
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { _ = l.Close() })
	var group sync.WaitGroup
	for {
		c, err := l.Accept()
		if err != nil {
			cancel()
			group.Wait()
			if stopped() != nil {
				return nil
			}
			return err
		}
		group.Go(func() {
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			m.talk(c)
			stop()
			_ = c.Close()
		})
	}
}

// talk serves one connection until it ends. Answers are sent when no more input is buffered.
func (m *mailbox) talk(c net.Conn) {
	r, w := bufio.NewReaderSize(c, maxMailLine), bufio.NewWriterSize(c, 4<<10)
	say := func(text string) bool {
		_, _ = w.WriteString(text)
		_, _ = w.WriteString("\r\n")
		return r.Buffered() > 0 || w.Flush() == nil
	}
	going := say("220 sink.bench.invalid")
	recipients := 0
	for going {
		_ = c.SetDeadline(time.Now().Add(mailPatience))
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		switch verb := strings.ToUpper(string(line[:min(4, len(line))])); verb {
		case "EHLO":
			going = say("250-sink.bench.invalid\r\n250-PIPELINING\r\n250 8BITMIME")
		case "HELO", "NOOP", "MAIL":
			going = say("250 ok")
		case "RSET":
			recipients = 0
			going = say("250 ok")
		case "RCPT":
			recipients++
			going = say("250 ok")
		case "DATA":
			if recipients == 0 {
				going = say("503 no recipient")
				break
			}
			recipients = 0
			going = say("354 send the message") && w.Flush() == nil && m.mail(r, say)
		case "QUIT":
			_ = say("221 bye")
			_ = w.Flush()
			return
		default:
			going = say("500 unknown command")
		}
	}
}

// mail reads an e-mail, reports it and then answers. If the sender dies before it reads the answer, the e-mail still
// counts as arrived: that is a message in doubt.
func (m *mailbox) mail(r *bufio.Reader, say func(string) bool) bool {
	d, ok, err := readMail(r)
	switch {
	case err != nil:
		return false
	case !ok:
		return say("550 5.6.0 no mail header")
	}
	d.At = time.Now()
	m.deliver(d)
	return say("250 accepted")
}

// readMail reads up to the final dot. ok is false if the e-mail does not begin with a header.
func readMail(r *bufio.Reader) (d delivery, ok bool, err error) {
	d.Marker = -1
	header, partial := true, false // partial: the next bytes are the rest of a very long line
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			partial = true
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return d, false, err
		}
		if partial {
			partial = false
			continue
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 1 && line[0] == '.' {
			return d, ok, nil
		}
		if !header {
			continue
		}
		if len(line) == 0 {
			header = false
			continue
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		ok = true
		switch {
		case bytes.EqualFold(name, []byte("Subject")):
			d.Marker = marker(string(value))
		case bytes.EqualFold(name, []byte("X-Iris-Message-Id")):
			d.MessageID = number(textproto.TrimString(string(value)))
		case bytes.EqualFold(name, []byte("X-Iris-Incident-Id")):
			d.IncidentID = number(textproto.TrimString(string(value)))
		}
	}
}
