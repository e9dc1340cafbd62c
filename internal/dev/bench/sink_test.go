package bench

import (
	"context"
	"io"
	"net"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSinkReportsEveryMail(t *testing.T) {
	t.Parallel()
	in, ours := io.Pipe()
	out, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := RunSink(context.WithoutCancel(t.Context()), "127.0.0.1:0", in, w)
		_ = w.Close()
		ended <- err
	}()
	started := make(chan string, 1)
	mails := make(chan delivery, 10)
	read := make(chan error, 1)
	go func() {
		read <- readSink(out, func(addr string) { started <- addr }, func(d delivery) { mails <- d })
	}()
	addr := <-started
	send := func(text string) error {
		return smtp.SendMail(addr, nil, "iris@bench.invalid", []string{"bench@bench.invalid"},
			[]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	}
	before := time.Now()
	require.NoError(t, send("Subject: CRITICAL\nX-IRIS-MESSAGE-ID: 71\nX-IRIS-INCIDENT-ID: 1234567890123\n\nbody\n.dot\n"))
	d := <-mails
	require.WithinRange(t, d.At, before, time.Now())
	d.At = time.Time{}
	require.Equal(t, delivery{MessageID: 71, IncidentID: 1234567890123, Marker: -1}, d)

	require.NoError(t, send("Subject: [bench-1] "+subject(42)+" x\nX-Iris-Message-Id: 72\n\n\n"))
	d = <-mails
	d.At = time.Time{}
	require.Equal(t, delivery{MessageID: 72, Marker: 42}, d)
	require.Error(t, send("no header at all"))

	require.NoError(t, ours.Close(), "the parent is gone")
	require.NoError(t, <-ended)
	require.NoError(t, <-read)
}

func TestMailboxTakesPipelinedMailsOfAnyShape(t *testing.T) {
	t.Parallel()
	var mails []delivery
	m := &mailbox{deliver: func(d delivery) { mails = append(mails, d) }}
	ours, theirs := net.Pipe()
	talked := make(chan struct{})
	go func() {
		m.talk(theirs)
		_ = theirs.Close()
		close(talked)
	}()
	go func() {
		_, _ = io.WriteString(ours, "EHLO x\r\nDATA\r\nRUBBISH\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n"+
			"X-Long: "+strings.Repeat("x", 2*maxMailLine)+
			".\r\nX-IRIS-Message-ID: 7\r\n\r\nX-Iris-Message-Id: 8\r\n..\r\n.\r\n"+
			"RSET\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nno header\r\n.\r\nQUIT\r\n")
	}()
	answers, err := io.ReadAll(ours)
	require.NoError(t, err)
	<-talked
	var codes []string
	for line := range strings.Lines(string(answers)) {
		codes = append(codes, line[:3])
	}
	require.Equal(t, strings.Fields("220 250 250 250 503 500 250 250 354 250 250 250 250 354 550 221"), codes)
	require.Len(t, mails, 1)
	require.Equal(t, int64(7), mails[0].MessageID)
}

func TestSinkReportsThatItCannotStart(t *testing.T) {
	t.Parallel()
	require.Error(t, RunSink(t.Context(), "127.0.0.1:99999", strings.NewReader(""), io.Discard))
	require.Error(t, readSink(strings.NewReader(""), func(string) {}, func(delivery) {}))
	require.Error(t, readSink(strings.NewReader("addr\nrubbish\n"), func(string) {}, func(delivery) {}))
}

func TestMarker(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		subject(7): 7, "[app] " + subject(123456) + "!": 123456, "": -1, "iris-bench-": -1, "other": -1,
	} {
		require.Equal(t, want, marker(text), text)
	}
}

func FuzzDecodeDelivery(f *testing.F) {
	f.Add(encodeDelivery(delivery{At: t0, MessageID: 1, IncidentID: 2, Marker: -1}))
	f.Add("1 2 3")
	f.Fuzz(func(t *testing.T, line string) {
		d, err := decodeDelivery(line)
		if err != nil {
			return
		}
		again, err := decodeDelivery(encodeDelivery(d))
		require.NoError(t, err)
		require.Equal(t, d, again)
	})
}
