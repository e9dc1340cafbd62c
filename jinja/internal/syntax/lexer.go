package syntax

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/jinja/internal/py"
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
	col   int // in the line, in characters from 1
	kind  string
	text  string
	value py.Value  // of string, integer and float
	err   *py.Error // lexical error; only the last token can have one
}

// is reports whether a token has the kind expr. If expr is "name:x", it reports whether the token is the name x.
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

// describe names a kind of token for a message. For "name:x" it returns x.
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
	tagRe   = regexp.MustCompile(`\{(?:%([-+]?)[\s\v]*raw[\s\v]*(?:-%\}[\s\v]*|%\})|([{%#])([-+]?))`)
	endRaw  = regexp.MustCompile(`\{%([-+]?)[\s\v]*endraw[\s\v]*(?:\+%\}|-%\}[\s\v]*|%\})`)
)

// lexer splits a template into tokens. It fails by panicking with *py.Error.
type lexer struct {
	rest   string // of the source
	line   int
	col    int
	tokens []token
	open   []byte // brackets to be closed
}

// tokenize splits a template. A lexical error becomes the last token, so that an earlier error of the parser wins. Line
// breaks become \n, and one at the end is dropped, as Jinja2 does by default.
func tokenize(src string) (tokens []token) {
	src = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src)
	l := &lexer{rest: strings.TrimSuffix(src, "\n"), line: 1, col: 1}
	defer func() {
		if r := recover(); r != nil {
			err, ok := r.(*py.Error)
			if !ok {
				panic(r)
			}
			tokens = append(l.tokens, token{line: err.Line, col: err.Column, err: err})
		}
	}()
	for l.rest != "" {
		l.tag()
	}
	end := token{line: 1, col: 1, kind: tokEOF} // the end of the template is reported at the last token
	if n := len(l.tokens); n > 0 {
		end.line, end.col = l.tokens[n-1].line, l.tokens[n-1].col
	}
	return append(l.tokens, end)
}

func (l *lexer) fail(format string, args ...any) {
	panic(mistake(token{line: l.line, col: l.col}, format, args...))
}

// skip skips n bytes and counts their lines and columns.
func (l *lexer) skip(n int) {
	skipped := l.rest[:n]
	l.line += strings.Count(skipped, "\n")
	if end := strings.LastIndexByte(skipped, '\n'); end >= 0 {
		l.col, skipped = 1, skipped[end+1:]
	}
	l.col += utf8.RuneCountInString(skipped)
	l.rest = l.rest[n:]
}

// emit makes a token of the next n bytes.
func (l *lexer) emit(kind string, n int, value py.Value) {
	l.tokens = append(l.tokens, token{line: l.line, col: l.col, kind: kind, text: l.rest[:n], value: value})
	l.skip(n)
}

// skipSpace skips white space.
func (l *lexer) skipSpace() { l.skip(len(l.rest) - len(strings.TrimLeftFunc(l.rest, py.IsSpace))) }

// data makes a token of the n bytes before a tag. It removes trailing space if the tag begins with a minus sign.
func (l *lexer) data(n int, sign string) {
	text := l.rest[:n]
	if sign == "-" {
		text = strings.TrimRightFunc(text, py.IsSpace)
	}
	if text != "" {
		l.emit(tokData, len(text), nil)
	}
	l.skip(n - len(text))
}

// tag reads text, and the tag that follows it.
func (l *lexer) tag() {
	m := tagRe.FindStringSubmatchIndex(l.rest)
	if m == nil {
		l.data(len(l.rest), "")
		return
	}
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return l.rest[m[2*i]:m[2*i+1]]
	}
	kind, length := group(2), m[1]-m[0]
	l.data(m[0], group(1)+group(3))
	switch kind {
	case "{":
		l.emit(tokVariableBegin, length, nil)
		l.code(tokVariableEnd, "}}")
	case "%":
		l.emit(tokBlockBegin, length, nil)
		l.code(tokBlockEnd, "%}")
	case "#":
		l.skip(length)
		l.comment()
	default:
		l.skip(length)
		l.raw()
	}
}

func (l *lexer) comment() {
	i := strings.Index(l.rest, "#}")
	switch {
	case l.rest == "":
	case i < 0:
		l.fail("the comment is not closed by #}")
	default:
		strip := i > 0 && l.rest[i-1] == '-'
		l.skip(i + 2)
		if strip {
			l.skipSpace()
		}
	}
}

func (l *lexer) raw() {
	m := endRaw.FindStringSubmatchIndex(l.rest)
	switch {
	case l.rest == "":
	case m == nil:
		l.fail("the tag raw is not closed by endraw")
	default:
		l.data(m[0], l.rest[m[2]:m[3]])
		l.skip(m[1] - m[0])
	}
}

// code reads the tokens of a tag up to its end.
func (l *lexer) code(endKind, end string) {
	l.open = l.open[:0]
	for l.rest != "" {
		sign := 0
		if l.rest[0] == '-' || l.rest[0] == '+' && endKind == tokBlockEnd {
			sign = 1
		}
		if len(l.open) > 0 || !strings.HasPrefix(l.rest[sign:], end) {
			l.expression()
			continue
		}
		strip := l.rest[0] == '-'
		l.emit(endKind, sign+len(end), nil)
		if strip {
			l.skipSpace()
		}
		return
	}
}

// expression reads one token inside a tag.
func (l *lexer) expression() {
	r, n := utf8.DecodeRuneInString(l.rest)
	switch {
	case py.IsSpace(r):
		l.skipSpace()
	case r >= '0' && r <= '9':
		l.number()
	case isNameRune(r):
		name := l.rest[:len(l.rest)-len(strings.TrimLeftFunc(l.rest, isNameRune))]
		if !py.IsIdentifier(name) {
			l.fail("%s is not a name", py.Quote(name))
		}
		l.emit(tokName, len(name), nil)
	case r == '\'' || r == '"':
		l.str(byte(r))
	default:
		l.operator(l.rest[:n])
	}
}

func isNameRune(r rune) bool { return py.IsWord(r) || r >= utf8.RuneSelf && py.IsIdentifierPart(r) }

func (l *lexer) number() {
	last := len(l.tokens) - 1
	if m := floatRe.FindString(l.rest); m != "" && l.tokens[last].kind != "." {
		f, _ := strconv.ParseFloat(strings.ReplaceAll(m, "_", ""), 64)
		l.emit(tokFloat, len(m), f)
		return
	}
	m := intRe.FindString(l.rest)
	digits := strings.ToLower(strings.ReplaceAll(m, "_", ""))
	if len(digits) > py.MaxIntDigits {
		l.fail("a number of more than %d digits", py.MaxIntDigits)
	}
	if strings.Trim(digits, "0") == "" {
		digits = "0"
	}
	i, ok := new(big.Int).SetString(digits, 0)
	if !ok {
		l.fail("%s is not a number", py.Quote(m))
	}
	l.emit(tokInteger, len(m), py.FromBig(i))
}

func (l *lexer) str(q byte) {
	for i := 1; i < len(l.rest); i++ {
		switch l.rest[i] {
		case '\\':
			i++
		case q:
			l.emit(tokString, i+1, l.unescape(l.rest[1:i]))
			return
		}
	}
	l.fail("the text is not closed by %s", py.Quote(string(q)))
}

var closing = map[string]byte{"{": '}', "(": ')', "[": ']'}

func (l *lexer) operator(op string) {
	switch {
	case len(l.rest) > 1 && strings.Contains(" // ** == != >= <= ", " "+l.rest[:2]+" "):
		op = l.rest[:2]
	case len(op) > 1 || !strings.Contains("+-/*%~[](){}><=.:|,;", op):
		l.fail("unexpected character %s", py.Quote(op))
	case closing[op] != 0:
		l.open = append(l.open, closing[op])
	case strings.Contains("})]", op):
		n := len(l.open) - 1
		if n < 0 || l.open[n] != op[0] {
			l.fail("unexpected '%s'", op)
		}
		l.open = l.open[:n]
	}
	l.emit(op, len(op), nil)
}

// unescape reads the escapes of a string literal. Unknown ones are left as they are.
func (l *lexer) unescape(s string) string {
	var sb strings.Builder
	for {
		text, rest, found := strings.Cut(s, `\`)
		sb.WriteString(text)
		if !found {
			return sb.String()
		}
		switch c := rest[0]; {
		case c == '\n':
			s = rest[1:]
		case c == '\'' || c == '"':
			sb.WriteByte(c)
			s = rest[1:]
		case c >= '0' && c <= '7':
			n := 1
			for n < min(3, len(rest)) && rest[n] >= '0' && rest[n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(rest[:n], 8, 16)
			sb.WriteRune(rune(v))
			s = rest[n:]
		case strings.IndexByte(`abfnrtv\xuUN`, c) >= 0:
			r, _, after, err := strconv.UnquoteChar(s[len(text):], 0)
			if err != nil {
				l.fail("the text has a malformed escape: \\%c", c)
			}
			sb.WriteRune(r)
			s = after
		default:
			sb.WriteByte('\\')
			s = rest
		}
	}
}
