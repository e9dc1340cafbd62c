package syntax

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// Kinds of tokens.
const (
	tokData          = "data"
	tokVariableBegin = "variable_begin"
	tokVariableEnd   = "variable_end"
	tokBlockBegin    = "block_begin"
	tokBlockEnd      = "block_end"
	tokName          = "name"
	tokString        = "string"
	tokInteger       = "integer"
	tokFloat         = "float"
	tokEOF           = "eof"
)

// token is a lexical unit. For operators, kind is the operator itself.
type token struct {
	line  int
	kind  string
	text  string
	value py.Value  // of string, integer and float
	err   *py.Error // what is wrong here: the last token
}

// is tests a token against a kind, or against a name written as name:x.
func (t token) is(expr string) bool {
	if name, ok := strings.CutPrefix(expr, "name:"); ok {
		return t.kind == tokName && t.text == name
	}
	return t.kind == expr
}

func (t token) isAny(exprs ...string) bool { return slices.ContainsFunc(exprs, t.is) }

// describe names a token for a message.
func (t token) describe() string {
	if t.kind == tokName {
		return t.text
	}
	return describe(t.kind)
}

// describe names a kind of token, or a name written as name:x.
func describe(expr string) string {
	expr = strings.TrimPrefix(expr, "name:")
	if n, ok := map[string]string{
		tokBlockBegin: "begin of statement block", tokBlockEnd: "end of statement block",
		tokVariableBegin: "begin of print statement", tokVariableEnd: "end of print statement",
		tokData: "text", tokEOF: "end of template",
	}[expr]; ok {
		return n
	}
	return expr
}

var (
	floatRe = regexp.MustCompile(`^(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+\-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)`)
	intRe   = regexp.MustCompile(`^(?i:0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*)`)
	rawRe   = regexp.MustCompile(`^\{%([-+]?)[\s\v]*raw[\s\v]*(?:-%\}[\s\v]*|%\})`)
	endRaw  = regexp.MustCompile(`\{%([-+]?)[\s\v]*endraw[\s\v]*(?:\+%\}|-%\}[\s\v]*|%\})`)
)

type lexer struct {
	src    string
	pos    int
	line   int
	tokens []token
	open   []byte // brackets to be closed
}

// normalize makes every line break \n and drops one at the end, as the engine does by default.
func normalize(src string) string {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\r", "\n")
	return strings.TrimSuffix(src, "\n")
}

// tokenize splits a template. A lexical error becomes the last token, so that an earlier error of the parser wins.
func tokenize(src string) []token {
	l := &lexer{src: normalize(src), line: 1}
	if err := l.run(); err != nil {
		l.tokens = append(l.tokens, token{line: err.Line, err: err})
		return l.tokens
	}
	return append(l.tokens, token{line: l.lastLine(), kind: tokEOF})
}

// lastLine is the line of the last token: where the end of the template is reported.
func (l *lexer) lastLine() int {
	if n := len(l.tokens); n > 0 {
		return l.tokens[n-1].line
	}
	return 1
}

func (l *lexer) emit(kind, text string, value py.Value) {
	l.tokens = append(l.tokens, token{line: l.line, kind: kind, text: text, value: value})
}

func (l *lexer) errorf(format string, args ...any) *py.Error {
	return mistake(l.line, format, args...)
}

func (l *lexer) run() *py.Error {
	for l.pos < len(l.src) {
		i := l.nextTag()
		if i < 0 {
			l.data(l.src[l.pos:], 0)
			l.pos = len(l.src)
			return nil
		}
		if err := l.tag(i); err != nil {
			return err
		}
	}
	return nil
}

func (l *lexer) nextTag() int {
	for i := l.pos; ; i++ {
		j := strings.IndexByte(l.src[i:], '{')
		if j < 0 {
			return -1
		}
		i += j
		if i+1 < len(l.src) && strings.IndexByte("{%#", l.src[i+1]) >= 0 {
			return i
		}
	}
}

// data emits template text and counts its lines; stripped ones count too.
func (l *lexer) data(text string, stripped int) {
	if text != "" {
		l.emit(tokData, text, nil)
	}
	l.line += strings.Count(text, "\n") + stripped
}

// before emits the text before a tag, without trailing space if the tag says so by a minus sign.
func (l *lexer) before(text string, sign byte) {
	cut := text
	if sign == '-' {
		cut = strings.TrimRightFunc(text, py.IsSpace)
	}
	l.data(cut, strings.Count(text[len(cut):], "\n"))
}

// tag reads the tag that begins at i.
func (l *lexer) tag(i int) *py.Error {
	text := l.src[l.pos:i]
	if m := rawRe.FindStringSubmatch(l.src[i:]); m != nil {
		l.before(text, signOf(m[1]))
		l.skip(i, len(m[0]))
		return l.raw()
	}
	kind, n := l.src[i+1], 2
	sign := byte(0)
	if i+2 < len(l.src) && (l.src[i+2] == '-' || l.src[i+2] == '+') {
		sign, n = l.src[i+2], 3
	}
	l.before(text, sign)
	switch kind {
	case '#':
		l.skip(i, n)
		return l.comment()
	case '{':
		l.emit(tokVariableBegin, l.src[i:i+n], nil)
		l.skip(i, n)
		return l.code(tokVariableEnd, "}}")
	}
	l.emit(tokBlockBegin, l.src[i:i+n], nil)
	l.skip(i, n)
	return l.code(tokBlockEnd, "%}")
}

func signOf(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// skip moves behind n bytes at i and counts their lines.
func (l *lexer) skip(i, n int) {
	l.line += strings.Count(l.src[i:i+n], "\n")
	l.pos = i + n
}

// skipSpace moves behind white space.
func (l *lexer) skipSpace() {
	rest := l.src[l.pos:]
	l.skip(l.pos, len(rest)-len(strings.TrimLeftFunc(rest, py.IsSpace)))
}

func (l *lexer) comment() *py.Error {
	if l.pos >= len(l.src) {
		return nil
	}
	i := strings.Index(l.src[l.pos:], "#}")
	if i < 0 {
		return l.errorf("Missing end of comment tag")
	}
	strip := i > 0 && l.src[l.pos+i-1] == '-'
	l.skip(l.pos, i+2)
	if strip {
		l.skipSpace()
	}
	return nil
}

func (l *lexer) raw() *py.Error {
	if l.pos >= len(l.src) {
		return nil
	}
	m := endRaw.FindStringSubmatchIndex(l.src[l.pos:])
	if m == nil {
		return l.errorf("Missing end of raw directive")
	}
	start := l.pos
	l.before(l.src[start:start+m[0]], signOf(l.src[start+m[2]:start+m[3]]))
	l.skip(start+m[0], m[1]-m[0])
	return nil
}

// code reads the tokens of a tag up to its end.
func (l *lexer) code(endKind, end string) *py.Error {
	l.open = l.open[:0]
	for l.pos < len(l.src) {
		if len(l.open) == 0 && l.end(endKind, end) {
			return nil
		}
		if err := l.expression(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lexer) end(kind, end string) bool {
	rest := l.src[l.pos:]
	switch {
	case strings.HasPrefix(rest, end):
		l.emit(kind, end, nil)
		l.pos += len(end)
	case strings.HasPrefix(rest, "-"+end):
		l.emit(kind, "-"+end, nil)
		l.pos += len(end) + 1
		l.skipSpace()
	case kind == tokBlockEnd && strings.HasPrefix(rest, "+"+end):
		l.emit(kind, "+"+end, nil)
		l.pos += len(end) + 1
	default:
		return false
	}
	return true
}

// expression reads one token inside a tag.
func (l *lexer) expression() *py.Error {
	rest := l.src[l.pos:]
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case py.IsSpace(r):
		l.skipSpace()
		return nil
	case r >= '0' && r <= '9':
		return l.number(rest)
	case isNameRune(r):
		end := strings.IndexFunc(rest, func(r rune) bool { return !isNameRune(r) })
		if end < 0 {
			end = len(rest)
		}
		name := rest[:end]
		if !py.IsIdentifier(name) {
			return l.errorf("Invalid character in identifier")
		}
		l.emit(tokName, name, nil)
		l.pos += end
		return nil
	case r == '\'' || r == '"':
		return l.str(rest, byte(r))
	}
	return l.operator(rest, rest[:n])
}

func isNameRune(r rune) bool {
	return py.IsWord(r) || r >= 0x80 && py.IsIdentifierPart(r)
}

func (l *lexer) number(rest string) *py.Error {
	if l.pos == 0 || l.src[l.pos-1] != '.' {
		if m := floatRe.FindString(rest); m != "" {
			f, _ := strconv.ParseFloat(strings.ReplaceAll(m, "_", ""), 64)
			l.emit(tokFloat, m, f)
			l.pos += len(m)
			return nil
		}
	}
	m := intRe.FindString(rest)
	digits := strings.ReplaceAll(m, "_", "")
	if len(digits) > py.MaxIntDigits {
		return l.errorf("a number of more than %d digits", py.MaxIntDigits)
	}
	i, ok := new(big.Int).SetString(strings.ToLower(digits), 0)
	if digits != "" && strings.Trim(digits, "0") == "" {
		i, ok = new(big.Int), true
	}
	if !ok {
		return l.errorf("unexpected character %s", py.Quote(rest[:1]))
	}
	l.emit(tokInteger, m, py.FromBig(i))
	l.pos += len(m)
	return nil
}

func (l *lexer) str(rest string, q byte) *py.Error {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case q:
			v, msg := unescape(rest[1:i])
			if msg != "" {
				return l.errorf("%s", msg)
			}
			l.emit(tokString, rest[:i+1], v)
			l.skip(l.pos, i+1)
			return nil
		}
	}
	return l.errorf("the text is not closed by %s", py.Quote(string(q)))
}

var closing = map[byte]byte{'{': '}', '(': ')', '[': ']'}

func (l *lexer) operator(rest, first string) *py.Error {
	op := first
	switch {
	case len(rest) > 1 && strings.Contains(" // ** == != >= <= ", " "+rest[:2]+" "):
		op = rest[:2]
	case len(first) > 1 || strings.IndexByte("+-/*%~[](){}><=.:|,;", first[0]) < 0:
		return l.errorf("unexpected character %s", py.Quote(first))
	}
	switch c := op[0]; {
	case len(op) > 1:
	case c == '{' || c == '(' || c == '[':
		l.open = append(l.open, closing[c])
	case c == '}' || c == ')' || c == ']':
		if len(l.open) == 0 {
			return l.errorf("unexpected '%c'", c)
		}
		want := l.open[len(l.open)-1]
		l.open = l.open[:len(l.open)-1]
		if want != c {
			return l.errorf("unexpected '%c', expected '%c'", c, want)
		}
	}
	l.emit(op, op, nil)
	l.pos += len(op)
	return nil
}

// unescape reads the escapes of a string literal; the message is not empty if one is malformed.
func unescape(s string) (text, msg string) {
	if !strings.Contains(s, `\`) {
		return s, ""
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			sb.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", `\ at end of string`
		}
		c := s[i]
		if j := strings.IndexByte(`abfnrtv\'"`, c); j >= 0 {
			sb.WriteByte("\a\b\f\n\r\t\v\\'\""[j])
			continue
		}
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		switch {
		case c == '\n':
		case c >= '0' && c <= '7':
			j := i
			for j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7' {
				j++
			}
			v, _ := strconv.ParseUint(s[i:j], 8, 32)
			sb.WriteRune(rune(v))
			i = j - 1
		case n > 0:
			v, err := strconv.ParseUint(s[i+1:min(i+1+n, len(s))], 16, 64)
			if err != nil || i+n >= len(s) {
				return "", fmt.Sprintf(`truncated \%c%s escape`, c, strings.Repeat("X", n))
			}
			if v > unicode.MaxRune {
				return "", "illegal Unicode character"
			}
			sb.WriteRune(rune(v))
			i += n
		case c == 'N':
			return "", `unknown Unicode character name`
		default:
			sb.WriteByte('\\')
			sb.WriteByte(c)
		}
	}
	return sb.String(), ""
}
