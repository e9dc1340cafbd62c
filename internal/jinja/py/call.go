package py

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Func is a function, a bound method or a class written in Go.
type Func struct {
	Name   string
	Self   Value // the object a method belongs to; nil for functions
	Class  bool  // it is a class
	Python bool  // Python would show it as a function of its own, not as a built-in
	Fn     func(b *Budget, args Args) Value
	Attrs  map[string]Value // attributes, for classes
}

func (f *Func) repr() string {
	switch {
	case f.Class:
		return "<class '" + f.Name + "'>"
	case f.Python:
		return "<function " + f.Name + " at " + address(f) + ">"
	case f.Self != nil:
		return fmt.Sprintf("<built-in method %s of %s object at %s>", f.Name, TypeName(f.Self), address(f.Self))
	}
	return "<built-in function " + f.Name + ">"
}

// IsCallable is callable(v).
func IsCallable(v Value) bool {
	switch v.(type) {
	case *Func, Callable, *Undefined:
		return true
	}
	return false
}

// Call is f(*args.Pos, **args.Kw).
func Call(b *Budget, f Value, args Args) Value {
	b.Step(1)
	switch x := f.(type) {
	case *Func:
		return x.Fn(b, args)
	case Callable:
		return x.Call(b, args)
	case *Undefined:
		x.Raise()
	}
	Raise("TypeError", "'%s' object is not callable", TypeName(f))
	return nil
}

// Absent marks an argument that was not given.
var Absent Value = &absent{}

type absent struct{ _ byte }

// Signature describes the parameters of a function written in Python, to bind arguments and to fail as Python does.
type Signature struct {
	Name       string
	Params     []Param
	Implicit   []string // leading parameters that the caller fills (environment, context); they count in messages
	Positional bool     // no parameter can be given by name
	Varargs    bool
	Kwargs     bool
}

// Param is a parameter; Default Absent means it is required.
type Param struct {
	Name    string
	Default Value
}

// ParseSignature reads "name(a, b=, *args, **kwargs)": a parameter with = is optional and Absent when it is not given.
// Implicit parameters are written first with a leading @; a last / says that none can be given by name.
func ParseSignature(s string) Signature {
	name, list, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	sig := Signature{Name: name}
	for _, p := range strings.Split(list, ",") {
		switch p = strings.TrimSpace(p); {
		case p == "":
		case p == "/":
			sig.Positional = true
		case strings.HasPrefix(p, "@"):
			sig.Implicit = append(sig.Implicit, p[1:])
		case strings.HasPrefix(p, "**"):
			sig.Kwargs = true
		case strings.HasPrefix(p, "*"):
			sig.Varargs = true
		default:
			n, optional := strings.CutSuffix(p, "=")
			param := Param{Name: n, Default: Absent}
			if optional {
				param.Default = nil
			}
			sig.Params = append(sig.Params, param)
		}
	}
	return sig
}

// Bind distributes args over the parameters. Optional ones that were not given are Absent. What is left over is
// returned for functions that take it, else it raises TypeError.
func (s *Signature) Bind(args Args) (values []Value, rest Args) {
	values = make([]Value, len(s.Params))
	for i := range values {
		values[i] = Absent
	}
	n := copy(values, args.Pos)
	if n < len(args.Pos) && s.Varargs {
		rest.Pos = args.Pos[n:]
	}
	s.onlyPositional(args.Kw)
	for _, kw := range args.Kw {
		i := s.param(kw.Name)
		switch {
		case i >= 0 && values[i] != Absent || i < 0 && slices.Contains(s.Implicit, kw.Name):
			Raise("TypeError", "%s() got multiple values for argument '%s'", s.Name, kw.Name)
		case i >= 0:
			values[i] = kw.Value
		case s.Kwargs:
			rest.Kw = append(rest.Kw, kw)
		default:
			Raise("TypeError", "%s() got an unexpected keyword argument '%s'", s.Name, kw.Name)
		}
	}
	if len(args.Pos) > len(s.Params) && !s.Varargs {
		s.tooMany(len(args.Pos))
	}
	var missing []string
	for i, p := range s.Params {
		if values[i] == Absent && p.Default == Absent {
			missing = append(missing, "'"+p.Name+"'")
		}
	}
	if missing != nil {
		s.tooFew(missing)
	}
	return values, rest
}

// onlyPositional raises when arguments that cannot be named are.
func (s *Signature) onlyPositional(kw []Keyword) {
	if !s.Positional {
		return
	}
	var named []string
	for _, k := range kw {
		if s.param(k.Name) < 0 && !slices.Contains(s.Implicit, k.Name) {
			Raise("TypeError", "%s() got an unexpected keyword argument '%s'", s.Name, k.Name)
		}
		named = append(named, k.Name)
	}
	if named != nil {
		Raise("TypeError", "%s() got some positional-only arguments passed as keyword arguments: '%s'", s.Name, strings.Join(named, ", "))
	}
}

func (s *Signature) param(name string) int {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return i
		}
	}
	return -1
}

func (s *Signature) tooMany(given int) {
	most := len(s.Implicit) + len(s.Params)
	least := len(s.Implicit)
	for _, p := range s.Params {
		if p.Default == Absent {
			least++
		}
	}
	takes := fmt.Sprint(most)
	if least != most {
		takes = fmt.Sprintf("from %d to %d", least, most)
	}
	plural := "s"
	if takes == "1" {
		plural = ""
	}
	verb := "were"
	if given+len(s.Implicit) == 1 {
		verb = "was"
	}
	Raise("TypeError", "%s() takes %s positional argument%s but %d %s given", s.Name, takes, plural, given+len(s.Implicit), verb)
}

func (s *Signature) tooFew(missing []string) {
	plural, list := "s", missing[0]
	switch n := len(missing); n {
	case 1:
		plural = ""
	case 2:
		list = missing[0] + " and " + missing[1]
	default:
		list = strings.Join(missing[:n-1], ", ") + ", and " + missing[n-1]
	}
	Raise("TypeError", "%s() missing %d required positional argument%s: %s", s.Name, len(missing), plural, list)
}

// method describes a method of a built-in class and how it complains about its arguments.
type method struct {
	min, max int
	kw       []string // names, if arguments may be named
	kwOnly   bool     // arguments must be named
	paren    bool     // complains as "find() takes at least 1 argument (0 given)"
	fn       func(b *Budget, self Value, a []Value) Value
}

// bind returns the method as a value.
func (m *method) bind(class, name string, self Value) *Func {
	return &Func{Name: name, Self: self, Fn: func(b *Budget, args Args) Value {
		return m.fn(b, self, m.arguments(class, name, args))
	}}
}

func (m *method) arguments(class, name string, args Args) []Value {
	n := len(args.Pos)
	if len(args.Kw) > 0 && m.kw == nil {
		Raise("TypeError", "%s.%s() takes no keyword arguments", class, name)
	}
	total := n + len(args.Kw)
	if m.kwOnly && total > m.max {
		m.complain(class, name, total)
	}
	if !m.kwOnly && (n < m.min && len(args.Kw) == 0 || total > m.max) {
		m.complain(class, name, total)
	}
	a := make([]Value, m.max)
	for i := range a {
		a[i] = Absent
	}
	if m.kwOnly && n > 0 {
		Raise("TypeError", "%s() takes no positional arguments", name)
	}
	copy(a, args.Pos)
	for _, kw := range args.Kw {
		i := 0
		for i < len(m.kw) && m.kw[i] != kw.Name {
			i++
		}
		if i == len(m.kw) {
			Raise("TypeError", "'%s' is an invalid keyword argument for %s()", kw.Name, name)
		}
		if a[i] != Absent {
			Raise("TypeError", "argument for %s() given by name ('%s') and position (%d)", name, kw.Name, i+1)
		}
		a[i] = kw.Value
	}
	return a
}

func (m *method) complain(class, name string, given int) {
	bound, n := "at least", m.min
	if given > m.max {
		bound, n = "at most", m.max
	}
	plural := "s"
	if n == 1 {
		plural = ""
	}
	switch {
	case m.paren || m.kw != nil:
		Raise("TypeError", "%s() takes %s %d argument%s (%d given)", name, bound, n, plural, given)
	case m.max == 0:
		Raise("TypeError", "%s.%s() takes no arguments (%d given)", class, name, given)
	case m.min == 1 && m.max == 1:
		Raise("TypeError", "%s.%s() takes exactly one argument (%d given)", class, name, given)
	case m.min == m.max:
		Raise("TypeError", "%s expected %d argument%s, got %d", name, m.min, plural, given)
	}
	Raise("TypeError", "%s expected %s %d argument%s, got %d", name, bound, n, plural, given)
}

// intArg returns an integer argument.
func intArg(v Value) int64 {
	i, ok := index(v)
	if !ok {
		if u, isUndef := v.(*Undefined); isUndef {
			Raise("TypeError", "'%s' object cannot be interpreted as an integer", TypeName(u))
		}
		Raise("TypeError", "'%s' object cannot be interpreted as an integer", TypeName(v))
	}
	return i
}

// Flag is an argument that is an int used as a truth, as that of sort is.
func Flag(v Value) bool {
	i := intArg(v)
	if i > math.MaxInt32 || i < math.MinInt32 {
		Raise("OverflowError", "Python int too large to convert to C int")
	}
	return i != 0
}
