package syntax

import (
	"reflect"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// Node is a part of a parsed template.
type Node interface {
	Line() int
}

type at int

// Line is where the node begins, from 1.
func (a at) Line() int { return int(a) }

// sequence is a node that consists of others.
type sequence struct {
	at
	Items []Node
}

// Use says what a template does with a name.
type Use int

// The uses of a name.
const (
	Load  Use = iota // reads it
	Store            // sets it
	Param            // gets its value from a loop, a macro or with
)

// Expressions.
type (
	// Name is a variable.
	Name struct {
		at
		Name string
		Use  Use
	}
	// NSRef is an attribute of a namespace as a target of set.
	NSRef struct {
		at
		Name, Attr string
	}
	// Const is a literal.
	Const struct {
		at
		Value py.Value
	}
	// Data is text between tags.
	Data struct {
		at
		Text string
	}
	// Tuple is (a, b), or a target of several names.
	Tuple struct{ sequence }
	// List is [a, b].
	List struct{ sequence }
	// Dict is {k: v}: Keys[i] belongs to Values[i].
	Dict struct {
		at
		Keys, Values []Node
	}
	// Cond is Yes if Test else No. No may be nil.
	Cond struct {
		at
		Test, Yes, No Node
	}
	// Bin is an operator between two values: + - * / // % ** and or.
	Bin struct {
		at
		Op          string
		Left, Right Node
	}
	// Unary is an operator before a value: + - not.
	Unary struct {
		at
		Op      string
		Operand Node
	}
	// Compare is a chain of comparisons: Ops[i] is the operator before Rest[i], one of == != < <= > >= in notin.
	Compare struct {
		at
		First Node
		Ops   []string
		Rest  []Node
	}
	// Concat is a ~ b.
	Concat struct{ sequence }
	// GetAttr is Obj.Attr.
	GetAttr struct {
		at
		Obj  Node
		Attr string
	}
	// GetItem is Obj[Arg]. Arg may be a Slice.
	GetItem struct {
		at
		Obj, Arg Node
	}
	// Slice is Start:Stop:Step, any of which may be nil.
	Slice struct {
		at
		Start, Stop, Step Node
	}
	// Keyword is a named argument.
	Keyword struct {
		Name  string
		Value Node
	}
	// Arguments are those of calls, filters and tests. DynArgs (*a) and DynKwargs (**a) may be nil.
	Arguments struct {
		Args               []Node
		Kwargs             []Keyword
		DynArgs, DynKwargs Node
	}
	// Call is Fn(Arguments).
	Call struct {
		at
		Fn Node
		Arguments
	}
	// Filter is Obj|Name. Obj is nil in filter blocks and block assignments.
	Filter struct {
		at
		Obj  Node
		Name string
		Arguments
	}
	// Test is Obj is Name.
	Test struct {
		at
		Obj  Node
		Name string
		Arguments
	}
)

// Statements.
type (
	// Output is text and values that are printed.
	Output struct{ sequence }
	// For is a loop. Test may be nil.
	For struct {
		at
		Target, Iter Node
		Body, Else   []Node
		Test         Node
		Recursive    bool
	}
	// If is a condition with its elifs.
	If struct {
		at
		Test  Node
		Body  []Node
		Elifs []*If
		Else  []Node
	}
	// Macro is a macro, or with Name "" the body of a call block. Defaults are those of the last arguments.
	Macro struct {
		at
		Name           string
		Args           []*Name
		Defaults, Body []Node
	}
	// CallBlock calls a macro and passes it the body of the block as the macro caller.
	CallBlock struct {
		at
		Call  *Call
		Macro *Macro
	}
	// FilterBlock filters its text.
	FilterBlock struct {
		at
		Body   []Node
		Filter *Filter
	}
	// With is a scope that sets Targets[i] to Values[i].
	With struct {
		at
		Targets, Values, Body []Node
	}
	// Assign is the tag set with a value: {% set a = b %}.
	Assign struct {
		at
		Target, Value Node
	}
	// AssignBlock sets a name to its text. Filter may be nil.
	AssignBlock struct {
		at
		Target Node
		Filter *Filter
		Body   []Node
	}
	// Autoescape switches the escaping of its output.
	Autoescape struct {
		at
		Value Node
		Body  []Node
	}
	// Template is a whole template.
	Template struct {
		at
		Body []Node
	}
)

// Children returns the parts of a node in the order of its fields, which is the order in which names are read.
func Children(n Node) []Node { return parts(reflect.ValueOf(n).Elem(), nil) }

func parts(v reflect.Value, out []Node) []Node {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			out = parts(v.Field(i), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = parts(v.Index(i), out)
		}
	case reflect.Interface, reflect.Pointer:
		if n, ok := v.Interface().(Node); ok && !v.IsNil() {
			out = append(out, n)
		}
	}
	return out
}

// Walk calls f for n and every node below it. If f returns false, the children of that node are skipped.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, c := range Children(n) {
		Walk(c, f)
	}
}

// Undeclared returns those of the names that nodes read before they set them. Before and after are in the order of
// Walk.
func Undeclared(nodes []Node, names ...string) map[string]bool {
	open := map[string]bool{}
	for _, n := range names {
		open[n] = true
	}
	found := map[string]bool{}
	for _, n := range nodes {
		Walk(n, func(n Node) bool {
			if name, ok := n.(*Name); ok && open[name.Name] {
				if name.Use == Load {
					found[name.Name] = true
				} else {
					delete(open, name.Name)
				}
			}
			return true
		})
	}
	return found
}
