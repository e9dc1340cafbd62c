package smtp_test

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors/smtp"
)

// scripted is an SMTP server with scripted answers. It simulates servers that break the protocol.
type scripted struct {
	mu    sync.Mutex
	heard []string
	conns int
}

// play starts a server. script returns the answers for the n-th connection (from 1). Their keys are the first word of
// the command, "." for the end of the message, and "" for the greeting. The answer "!" closes the connection.
func play(t *testing.T, script func(conn int) map[string]string) (*smtp.Vendor, *scripted) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &scripted{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			answers := script(s.conns)
			s.mu.Unlock()
			wg.Go(func() { s.serve(c, answers) })
		}
	})
	v, err := smtp.New(smtp.Config{Addr: ln.Addr().String(), From: "iris@example.com", Timeout: 2 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); _ = ln.Close(); wg.Wait() })
	return v, s
}

func (s *scripted) serve(c net.Conn, answers map[string]string) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	defaults := map[string]string{
		"": "220 hi", "EHLO": "250-hi\r\n250 PIPELINING", "HELO": "250 hi", "MAIL": "250 ok", "RCPT": "250 ok", "DATA": "354 go", ".": "250 ok",
		"RSET": "250 ok", "QUIT": "221 bye",
	}
	// say sends the answer and returns it. After "!" the caller closes the connection.
	say := func(word string) string {
		s.mu.Lock()
		text, ok := answers[word]
		s.mu.Unlock()
		if !ok {
			text = defaults[word]
		}
		if text != "!" {
			_, _ = c.Write([]byte(text + "\r\n"))
		}
		return text
	}
	if say("") == "!" {
		return
	}
	lines, data := bufio.NewScanner(c), false
	for lines.Scan() {
		line := lines.Text()
		word := line[:min(4, len(line))]
		if data {
			if line != "." {
				continue
			}
			word = "."
		}
		s.mu.Lock()
		s.heard = append(s.heard, word)
		s.mu.Unlock()
		text := say(word)
		if text == "!" {
			return
		}
		data = word == "DATA" && strings.HasPrefix(text, "354")
	}
}

func (s *scripted) said() ([]string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.heard...), s.conns
}

func always(answers map[string]string) func(int) map[string]string {
	return func(int) map[string]string { return answers }
}

func TestOutcomeOfUnusualServers(t *testing.T) {
	t.Parallel()
	const plain = "250 hi" // no pipelining
	for name, c := range map[string]struct {
		answers map[string]string
		want    messages.Outcome
		gone    bool
	}{
		"ordinary":              {nil, messages.OutcomeSent, false},
		"one command at a time": {map[string]string{"EHLO": plain}, messages.OutcomeSent, false},
		"knows only HELO":       {map[string]string{"EHLO": "502 what?"}, messages.OutcomeSent, false},
		"talks much": {map[string]string{"": "220-a\r\n220-b\r\n220 c", ".": "250-a\r\n250 b"},
			messages.OutcomeSent, false},
		"closes instead of QUIT":  {map[string]string{"QUIT": "!"}, messages.OutcomeSent, false},
		"refuses at the greeting": {map[string]string{"": "554 go away"}, messages.OutcomeUnavailable, false},
		"too busy at the greeting": {map[string]string{"": "421 4.7.0 too many connections"},
			messages.OutcomeThrottled, false},
		"garbage at the greeting": {map[string]string{"": "HTTP/1.1 400 Bad Request"},
			messages.OutcomeUnavailable, false},
		"closes at the greeting": {map[string]string{"": "!"}, messages.OutcomeUnavailable, false},
		"closes at EHLO":         {map[string]string{"EHLO": "!"}, messages.OutcomeUnavailable, false},
		"refuses the sender": {map[string]string{"MAIL": "550 5.7.1 not you", "RCPT": "503 no",
			"DATA": "503 no"}, messages.OutcomeRejected, false},
		"refuses the recipient": {map[string]string{"RCPT": "550 5.1.1 who?", "DATA": "554 no"},
			messages.OutcomeRejected, true},
		"refuses it, one at a time": {map[string]string{"EHLO": plain, "RCPT": "550 5.1.1 who?"},
			messages.OutcomeRejected, true},
		"refuses it and wants DATA": {map[string]string{"RCPT": "550 5.1.1 who?"}, messages.OutcomeRejected, true},
		"not now": {map[string]string{"RCPT": "451 4.3.0 not now", "DATA": "503 no"},
			messages.OutcomeUnavailable, false},
		"refuses DATA":   {map[string]string{"DATA": "451 no room"}, messages.OutcomeUnavailable, false},
		"250 to DATA":    {map[string]string{"DATA": "250 ok"}, messages.OutcomeUnavailable, false},
		"closes at MAIL": {map[string]string{"MAIL": "!"}, messages.OutcomeUnavailable, false},
		"closes at DATA": {map[string]string{"DATA": "!"}, messages.OutcomeUnavailable, false},
		"closes at RCPT, one by one": {map[string]string{"EHLO": plain, "RCPT": "!"}, messages.OutcomeUnavailable,
			false},
		"leaves at MAIL": {map[string]string{"MAIL": "421 4.3.2 restarting"},
			messages.OutcomeUnavailable, false},
		"garbage at RCPT":      {map[string]string{"RCPT": "?"}, messages.OutcomeUnavailable, false},
		"refuses the message":  {map[string]string{".": "554 5.7.1 spam"}, messages.OutcomeRejected, false},
		"puts the message off": {map[string]string{".": "451 4.3.0 later"}, messages.OutcomeUnavailable, false},
		"too many messages": {map[string]string{".": "450 4.7.1 rate limit"}, messages.OutcomeThrottled,
			false},
		"closes after the message":     {map[string]string{".": "!"}, messages.OutcomeUnknown, false},
		"garbage after the message":    {map[string]string{".": "yes"}, messages.OutcomeUnknown, false},
		"asks again after the message": {map[string]string{".": "354 more"}, messages.OutcomeUnknown, false},
		"endless answer": {map[string]string{".": "250-" + strings.Repeat("x", 9000)},
			messages.OutcomeUnknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, s := play(t, always(c.answers))
			r := v.Send(t.Context(), mail(1))
			require.Equal(t, c.want, r.Outcome, r.Detail)
			require.Equal(t, c.gone, r.DestinationGone)
			heard, conns := s.said()
			require.Equal(t, 1, conns, "a fresh connection is tried once")
			if c.want != messages.OutcomeSent && c.answers["."] == "" {
				require.NotContains(t, heard, ".", "no message was finished")
			}
		})
	}
}

// A kept connection that fails before it accepted anything is replaced once, whatever the cause.
func TestDeadConnectionIsReplacedOnce(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"closed": "!", "says it leaves": "421 4.4.2 idle too long"} {
		for _, features := range []string{"250-hi\r\n250 PIPELINING", "250 hi"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				first := map[string]string{"EHLO": features}
				v, s := play(t, func(conn int) map[string]string {
					if conn == 1 {
						return first
					}
					return map[string]string{"EHLO": features}
				})
				require.Equal(t, messages.OutcomeSent, v.Send(t.Context(), mail(1)).Outcome)
				s.mu.Lock()
				first["MAIL"] = at
				s.mu.Unlock()
				r := v.Send(t.Context(), mail(2))
				require.Equal(t, messages.OutcomeSent, r.Outcome, r.Detail)
				heard, conns := s.said()
				require.Equal(t, 2, conns)
				dots := 0
				for _, word := range heard {
					if word == "." {
						dots++
					}
				}
				require.Equal(t, 2, dots)
			})
		}
	}
}

// A refused recipient leaves the SMTP transaction open, so the next message on the connection begins with RSET.
func TestRSETFollowsARefusedRecipient(t *testing.T) {
	t.Parallel()
	answers := map[string]string{"RCPT": "550 5.1.1 who?", "DATA": "503 no"}
	v, s := play(t, always(answers))
	require.Equal(t, messages.OutcomeRejected, v.Send(t.Context(), mail(1)).Outcome)
	heard, _ := s.said()
	require.NotContains(t, heard, "RSET")
	require.Equal(t, messages.OutcomeRejected, v.Send(t.Context(), mail(2)).Outcome)
	heard, conns := s.said()
	require.Contains(t, heard, "RSET")
	require.Equal(t, 1, conns)
}

// A failure before the RCPT command is caused by the account. Any other failure may be caused by the recipient.
func TestRefusedRecipientIsNotAnAccountFailure(t *testing.T) {
	t.Parallel()
	const plain = "250 hi" // no pipelining
	for name, c := range map[string]struct {
		answers map[string]string
		account bool
	}{
		"greeting":       {map[string]string{"": "554 go away"}, true},
		"closes at EHLO": {map[string]string{"EHLO": "!"}, true},
		"sender not now": {map[string]string{"MAIL": "451 4.3.0 not now", "RCPT": "503 no",
			"DATA": "503 no"}, true},
		"greylisted":                 {map[string]string{"RCPT": "451 4.7.1 greylisted", "DATA": "503 no"}, false},
		"greylisted by postgrey":     {map[string]string{"RCPT": "450 4.7.1 Recipient address rejected: Greylisted, try again in 300 seconds", "DATA": "503 no"}, false},
		"closes at RCPT":             {map[string]string{"RCPT": "!"}, false},
		"closes at RCPT, one by one": {map[string]string{"EHLO": plain, "RCPT": "!"}, false},
		"puts the message off":       {map[string]string{".": "451 4.3.0 later"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := play(t, always(c.answers))
			r := v.Send(t.Context(), mail(1))
			require.Equal(t, messages.OutcomeUnavailable, r.Outcome, r.Detail)
			require.Equal(t, c.account, r.BeforeRecipient, r.Detail)
		})
	}
}

// A server with a late greeting is slow, not down: the connection is kept for the next message.
func TestConnectionWithALateGreetingIsKept(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	greet := make(chan struct{})
	s := &scripted{}
	var wg sync.WaitGroup
	wg.Go(func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		<-greet
		s.serve(c, nil)
	})
	v, err := smtp.New(smtp.Config{Addr: ln.Addr().String(), From: "iris@example.com", MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); _ = ln.Close(); wg.Wait() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, r, ok := v.Prepare(ctx, mail(1))
	require.False(t, ok)
	require.Equal(t, messages.OutcomeUnavailable, r.Outcome)
	require.Contains(t, r.Detail, "time is up")
	require.True(t, r.BeforeRecipient)
	close(greet)
	p, r, ok := v.Prepare(t.Context(), mail(1))
	require.True(t, ok, r.Detail)
	require.Equal(t, messages.OutcomeSent, p.Send(t.Context(), mail(1)).Outcome)
	require.True(t, v.Probe(t.Context()))
}
