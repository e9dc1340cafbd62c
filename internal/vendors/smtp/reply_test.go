package smtp

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
)

func read(t *testing.T, text string) reply {
	t.Helper()
	r, err := readReply(bufio.NewReaderSize(strings.NewReader(text), 4096))
	require.NoError(t, err, text)
	return r
}

func TestReadReply(t *testing.T) {
	t.Parallel()
	require.Equal(t, reply{code: 250, enhanced: [3]int{2, 1, 5}, lines: []string{"2.1.5 Ok"}},
		read(t, "250 2.1.5 Ok\r\n"))
	require.Equal(t, reply{code: 250, lines: []string{"one", "two", ""}}, read(t, "250-one\r\n250-two\r\n250\r\n"))
	require.Equal(t, reply{code: 354, lines: []string{"go"}}, read(t, "354 go\n"))
	for _, text := range []string{
		"what?\r\n", "\r\n", "25\r\n", "250_x\r\n", "999 x\r\n", "100 x\r\n", "250-a\r\n251 b\r\n", "\x00\xff\r\n", strings.Repeat("250-x\r\n", 1000),
		"250 " + strings.Repeat("x", 5000) + "\r\n", "+50 x\r\n",
	} {
		_, err := readReply(bufio.NewReaderSize(strings.NewReader(text), 4096))
		require.ErrorIs(t, err, errGarbage, "%.20q", text)
	}
	_, err := readReply(bufio.NewReader(strings.NewReader("250-cut")))
	require.Error(t, err)
}

func TestOutcomeOfEachReply(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		outcome messages.Outcome
		after   time.Duration
		gone    bool
	}{
		"421 4.7.0 try later":      {outcome: messages.OutcomeThrottled},
		"421 4.3.2 shutting down":  {outcome: messages.OutcomeUnavailable},
		"421 too many connections": {outcome: messages.OutcomeThrottled},
		"450 4.7.1 Rate limit exceeded, try again in 30 seconds": {outcome: messages.OutcomeThrottled,
			after: 30 * time.Second},
		"451 4.7.1 please wait 5 minutes, you send too much": {outcome: messages.OutcomeThrottled,
			after: 5 * time.Minute},
		"450 4.2.0 mailbox busy":            {outcome: messages.OutcomeUnavailable},
		"452 4.2.2 over quota exceeded":     {outcome: messages.OutcomeUnavailable},
		"451 greylisted":                    {outcome: messages.OutcomeUnavailable},
		"550 5.1.1 no such user":            {outcome: messages.OutcomeRejected, gone: true},
		"550 no such user":                  {outcome: messages.OutcomeRejected, gone: true},
		"550 5.7.1 spam":                    {outcome: messages.OutcomeRejected},
		"552 5.2.2 mailbox full":            {outcome: messages.OutcomeRejected},
		"550 5.2.1 disabled":                {outcome: messages.OutcomeRejected, gone: true},
		"554 rate of spam too high":         {outcome: messages.OutcomeRejected},
		"530 5.7.0 authentication required": {outcome: messages.OutcomeUnavailable},
		"535 5.7.8 log-in refused":          {outcome: messages.OutcomeUnavailable},
	} {
		got := read(t, text+"\r\n").result("RCPT", true)
		require.Equal(t, want.outcome, got.Outcome, text)
		require.Equal(t, want.after, got.RetryAfter, text)
		require.Equal(t, want.gone, got.DestinationGone, text)
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add([]byte("250-one\r\n250 2.0.0 two\r\n"))
	f.Add([]byte("421 4.7.0 wait 99999 minutes\r\n"))
	f.Add([]byte{0, 255})
	f.Fuzz(func(t *testing.T, text []byte) {
		rep, err := readReply(bufio.NewReaderSize(strings.NewReader(string(text)), 64))
		if err != nil {
			return
		}
		require.True(t, rep.code >= 200 && rep.code <= 599)
		r := rep.result("x", true)
		require.NotEmpty(t, r.Outcome)
		require.NotEqual(t, messages.OutcomeSent, r.Outcome)
		require.GreaterOrEqual(t, r.RetryAfter, time.Duration(0))
		require.LessOrEqual(t, len(r.Detail), 300)
	})
}

func FuzzAddress(f *testing.F) {
	f.Add("Ann <ann@example.com>")
	f.Add("\"a b\"@example.com")
	f.Add("ann@[IPv6:::1]")
	f.Add("ann@münchen.example")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := address(text)
		if err != nil {
			return
		}
		require.False(t, strings.ContainsAny(a.Address, " \r\n\t<>\x00"), "%q", a.Address)
		require.Equal(t, 1, strings.Count(a.Address, "@"), "%q", a.Address)
		require.False(t, strings.ContainsAny(a.Name, "\r\n\x00"))
		again, err := address(a.Address)
		require.NoError(t, err, "%q", a.Address)
		require.Equal(t, a.Address, again.Address)
	})
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ann@example.com": "ann@example.com", "Ann <ann@example.com>": "ann@example.com", " ann@Example.COM ": "ann@example.com",
		"ann@münchen.example": "ann@xn--mnchen-3ya.example", "jürg@example.com": "jürg@example.com", "a.b+c@example.com": "a.b+c@example.com",
		"root@localhost": "root@localhost", "ann@[192.0.2.1]": "ann@[192.0.2.1]",
		"": "", "ann": "", "ann@": "", "@x": "", "a@b, c@d": "", "a@b\r\nBcc: c@d": "", "\"a b\"@x.example": "", "\"<>\"@x.example": "", "ann@x y": "",
		"ann@[x>]": "", strings.Repeat("a", 300) + "@x.example": "",
	} {
		got, err := address(in)
		if want == "" {
			require.Error(t, err, "%q", in)
			continue
		}
		require.NoError(t, err, in)
		require.Equal(t, want, got.Address)
	}
}
