package text

import (
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Printable returns a writer for a terminal. It replaces control characters, except tabs and line breaks, and the
// characters that change the direction of a line: titles of alerts could otherwise control the terminal.
func Printable(to io.Writer) io.Writer { return &printable{to: to} }

type printable struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // the first bytes of a character that is not complete yet
}

// Write implements io.Writer.
func (p *printable) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := append(p.rest, b...)
	out := make([]byte, 0, len(in))
	for utf8.FullRune(in) {
		r, size := utf8.DecodeRune(in)
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			out = utf8.AppendRune(out, utf8.RuneError)
		} else {
			out = append(out, in[:size]...)
		}
		in = in[size:]
	}
	p.rest = in
	if _, err := p.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
