package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RunSink is the main function of the sink's process: an SMTP server on addr that accepts every e-mail and writes one
// line for each to out. The first line is its address. It ends when ctx or in ends, so that no sink outlives its bench.
func RunSink(ctx context.Context, addr string, in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("sink: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &sinkLog{out: bufio.NewWriterSize(out, 256<<10)}
	b.line(l.Addr().String())
	if err := b.flush(); err != nil {
		return err
	}
	m := &mailbox{deliver: func(d delivery) { b.line(encodeDelivery(d)) }}
	ended := make(chan error, 1)
	go func() { ended <- m.serve(ctx, l) }()
	go func() {
		_, _ = io.Copy(io.Discard, in) // until the parent closes it or ends
		cancel()
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return errors.Join(err, b.flush())
		case <-ctx.Done():
			return errors.Join(<-ended, b.flush())
		case <-tick.C:
			if err := b.flush(); err != nil {
				cancel()
				return errors.Join(err, <-ended)
			}
		}
	}
}

// sinkLog writes lines to a buffer. It is safe for concurrent use.
type sinkLog struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func (b *sinkLog) line(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.out.WriteString(text) // flush returns the error
	_ = b.out.WriteByte('\n')
}

func (b *sinkLog) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Flush()
}

func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// subject returns the subject of notification n of the bench. marker reads n from a subject; -1 = none.
func subject(n int) string { return subjectPrefix + strconv.Itoa(n) }

const subjectPrefix = "iris-bench-"

func marker(subject string) int {
	_, rest, ok := strings.Cut(subject, subjectPrefix)
	if !ok {
		return -1
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		rest = rest[:end]
	}
	n, err := strconv.Atoi(rest)
	if err != nil {
		return -1
	}
	return n
}

func encodeDelivery(d delivery) string {
	return fmt.Sprintf("%d %d %d %d", d.At.UnixNano(), d.MessageID, d.IncidentID, d.Marker)
}

func decodeDelivery(line string) (delivery, error) {
	var nanos int64
	var d delivery
	if _, err := fmt.Sscanf(line, "%d %d %d %d", &nanos, &d.MessageID, &d.IncidentID, &d.Marker); err != nil {
		return d, fmt.Errorf("sink line %q: %w", line, err)
	}
	d.At = time.Unix(0, nanos)
	return d, nil
}

// readSink reads the output of a sink until it ends: its address, which is passed to started, then deliveries.
func readSink(r io.Reader, started func(addr string), deliver func(delivery)) error {
	lines := bufio.NewScanner(r)
	if !lines.Scan() {
		return errors.Join(errors.New("the sink did not start"), lines.Err())
	}
	started(lines.Text())
	for lines.Scan() {
		d, err := decodeDelivery(lines.Text())
		if err != nil {
			return err
		}
		deliver(d)
	}
	return lines.Err()
}
