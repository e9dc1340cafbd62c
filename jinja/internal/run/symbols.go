package run

import (
	"maps"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

// Names follow the scoping rules of the original. Before it runs, analysis finds for each frame (template, loop body,
// macro, with, ...) which names it reads and which it sets. A name that a frame sets is a variable of that frame, from
// its start. A name that it only reads belongs to the nearest outer frame that has it, else to the context. symbols is
// the analysis of one frame.

// loadKind says how a variable gets its value when its frame is entered.
type loadKind int

const (
	loadParam     loadKind = iota // set by the caller
	loadResolve                   // from the context
	loadAlias                     // from the variable of an outer frame
	loadUndefined                 // no value yet
)

type load struct {
	kind loadKind
	from string // name in the context, or the outer variable
}

type symbols struct {
	level  int
	parent *symbols
	refs   map[string]string // name -> variable
	loads  map[string]load   // variable -> its first value
	order  []string          // variables in order of definition
	stores map[string]bool   // names set here
}

func newSymbols(parent *symbols) *symbols {
	s := &symbols{parent: parent, refs: map[string]string{}, loads: map[string]load{}, stores: map[string]bool{}}
	if parent != nil {
		s.level = parent.level + 1
	}
	return s
}

func (s *symbols) copy() *symbols {
	return &symbols{
		level: s.level, parent: s.parent, refs: maps.Clone(s.refs), loads: maps.Clone(s.loads), stores: maps.Clone(s.stores),
		order: slices.Clone(s.order),
	}
}

func (s *symbols) define(name string, l load) string {
	v := "l_" + strconv.Itoa(s.level) + "_" + name
	s.refs[name] = v
	s.setLoad(v, l)
	return v
}

func (s *symbols) setLoad(v string, l load) {
	if _, ok := s.loads[v]; !ok {
		s.order = append(s.order, v)
	}
	s.loads[v] = l
}

func (s *symbols) find(name string) (string, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.refs[name]; ok {
			return v, true
		}
	}
	return "", false
}

func (s *symbols) store(name string) {
	s.stores[name] = true
	if _, ok := s.refs[name]; ok {
		return
	}
	if outer, ok := s.parent.find(name); ok {
		s.define(name, load{loadAlias, outer})
		return
	}
	s.define(name, load{kind: loadUndefined})
}

func (s *symbols) param(name string) string {
	s.stores[name] = true
	return s.define(name, load{kind: loadParam})
}

func (s *symbols) read(name string) {
	if _, ok := s.find(name); !ok {
		s.define(name, load{loadResolve, name})
	}
}

// merge adds the names of the branches of an if. A name set in only some branches starts with its outer value.
func (s *symbols) merge(branches ...*symbols) {
	for _, b := range branches {
		maps.Copy(s.refs, b.refs)
		for _, v := range b.order {
			s.setLoad(v, b.loads[v])
		}
	}
	for _, b := range branches {
		for n := range b.stores {
			if s.stores[n] {
				continue
			}
			s.stores[n] = true
			first := load{loadResolve, n}
			if outer, ok := s.parent.find(n); ok {
				first = load{loadAlias, outer}
			}
			s.setLoad(s.refs[n], first)
		}
	}
}

// visit records the names of a node inside a frame. It skips nodes that have their own frames, except for the parts
// that are evaluated outside of these.
func (s *symbols) visit(n syntax.Node) {
	switch x := n.(type) {
	case *syntax.Name:
		switch x.Use {
		case syntax.Param:
			s.param(x.Name)
		case syntax.Store:
			s.store(x.Name)
		default:
			s.read(x.Name)
		}
	case *syntax.NSRef:
		s.read(x.Name)
	case *syntax.If:
		s.visitIf(x)
	case *syntax.Macro:
		s.store(x.Name)
	case *syntax.Assign:
		s.visit(x.Value)
		s.visit(x.Target)
	case *syntax.For:
		s.visit(x.Iter)
	case *syntax.CallBlock:
		s.visit(x.Call)
	case *syntax.FilterBlock:
		s.visit(x.Filter)
	case *syntax.With:
		s.visitAll(x.Values)
	case *syntax.AssignBlock:
		s.visit(x.Target)
	case *syntax.Autoescape:
	default:
		s.visitAll(syntax.Children(n))
	}
}

func (s *symbols) visitAll(nodes []syntax.Node) {
	for _, n := range nodes {
		s.visit(n)
	}
}

func (s *symbols) visitIf(n *syntax.If) {
	s.visit(n.Test)
	body, elifs, orelse := s.copy(), s.copy(), s.copy()
	body.visitAll(n.Body)
	for _, e := range n.Elifs {
		elifs.visitIf(e)
	}
	orelse.visitAll(n.Else)
	s.merge(body, elifs, orelse)
}

// visitParams records the names of a loop's target: the loop sets them.
func (s *symbols) visitParams(n syntax.Node) {
	switch x := n.(type) {
	case *syntax.Name:
		s.param(x.Name)
	case *syntax.Tuple:
		for _, it := range x.Items {
			s.visitParams(it)
		}
	}
}
