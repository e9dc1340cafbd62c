package intake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// member is a name and value of a JSON object. The order of members is the sender's.
type member struct {
	name  string
	value json.RawMessage
}

// The members that report what was left out of a context. Alertmanager uses truncatedAlerts in the same way.
const (
	alertsMember    = "alerts"
	truncatedAlerts = "truncatedAlerts"
	truncatedNames  = "truncatedMembers"
)

// maxNamed is how many members truncatedMembers names.
const maxNamed = 20

// ContextOf returns the sender's payload as the context of an incident. Templates can use title, summary, severity,
// labels, links and images for every source: those that the payload lacks are added, and the name of the integration
// too.
func ContextOf(e Event, integration string, severity Severity) (json.RawMessage, error) {
	body := e.Context
	if len(body) == 0 {
		body = json.RawMessage(`{}`)
	}
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &given); err != nil {
		return LimitedContext(body) // names the problem
	}
	for _, m := range []struct {
		name  string
		value any
		empty bool
	}{
		{"title", e.Title, e.Title == ""}, {"summary", e.Summary, e.Summary == ""}, {"severity", severity,
			severity == ""},
		{"labels", e.Labels, len(e.Labels) == 0}, {"links", e.Links, len(e.Links) == 0}, {"images", e.Images,
			len(e.Images) == 0},
		{"integration", integration, integration == ""},
	} {
		if _, has := given[m.name]; !has && !m.empty {
			body = WithMember(body, m.name, m.value)
		}
	}
	return LimitedContext(body)
}

// MaxMembers is how many members of an object are read, and MaxElements how many elements of a list: the first ones,
// and the last lastOnes. The context of an incident has no room for more, no sender lists more alerts in 16 MiB, and
// what a decoder looks for is at one of the ends.
const (
	MaxMembers  = 10_000
	MaxElements = 100_000
	lastOnes    = 1000
)

// nest is an object or array around a place in JSON.
type nest struct {
	most  int   // how many members or elements are kept
	begun int   // of them
	from  int   // the comma after the first ones
	last  []int // a ring of the commas before the last ones
}

// next notes the comma at i.
func (n *nest) next(i int) {
	n.begun++
	switch later := n.begun - (n.most - lastOnes); {
	case later == 1:
		n.from, n.last = i, append(n.last, i)
	case later > lastOnes:
		n.last[(later-1)%lastOnes] = i
	case later > 1:
		n.last = append(n.last, i)
	}
}

// Bounded returns a valid JSON value in which each object has at most MaxMembers members and each list at most
// MaxElements elements; those in the middle are left out. So the time and memory that a value costs are bounded by what
// is kept. It reads each byte once.
func Bounded(body []byte) []byte {
	var around []nest
	var gone [][2]int // ascending, without overlaps
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = endOfText(body, i)
		case '{':
			around = append(around, nest{most: MaxMembers, begun: 1})
		case '[':
			around = append(around, nest{most: MaxElements, begun: 1})
		case ',':
			around[len(around)-1].next(i)
		case '}', ']':
			n := around[len(around)-1]
			around = around[:len(around)-1]
			if n.begun <= n.most {
				continue
			}
			for len(gone) > 0 && gone[len(gone)-1][0] >= n.from && gone[len(gone)-1][1] <= n.oldest() {
				gone = gone[:len(gone)-1]
			}
			gone = append(gone, [2]int{n.from, n.oldest()})
		}
	}
	if len(gone) == 0 {
		return body
	}
	slices.SortFunc(gone, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	kept, from := make([]byte, 0, len(body)), 0
	for _, g := range gone {
		if g[0] < from {
			continue // within what is left out
		}
		kept = append(kept, body[from:g[0]]...)
		from = g[1]
	}
	return append(kept, body[from:]...)
}

// oldest is the comma before the last ones.
func (n *nest) oldest() int { return n.last[(n.begun-(n.most-lastOnes))%lastOnes] }

// endOfText returns the last quote of the text that begins at i.
func endOfText(body []byte, i int) int {
	for i++; i < len(body) && body[i] != '"'; i++ {
		if body[i] == '\\' {
			i++
		}
	}
	return i
}

// LimitedContext returns the payload as the context of an incident. If the payload is too large, it leaves out whole
// alerts, resolved ones first, and counts them in truncatedAlerts. If the payload is too large without alerts, it
// leaves out the largest members and names them in truncatedMembers. It never cuts a value.
func LimitedContext(body []byte) (json.RawMessage, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err != nil {
		return nil, fault.New(fault.Invalid, "Invalid json in post body")
	}
	if incidents.JSONSize(compact.Bytes()) <= incidents.MaxContext {
		return compact.Bytes(), nil
	}
	members := inOrder(Bounded(compact.Bytes()))
	var alerts []json.RawMessage
	counted := 0
	if at := find(members, alertsMember); at >= 0 && json.Unmarshal(members[at].value, &alerts) == nil {
		if at := find(members, truncatedAlerts); at >= 0 && json.Unmarshal(members[at].value, &counted) != nil {
			counted = 0
		}
		members = set(set(members, alertsMember, []json.RawMessage{}), truncatedAlerts, counted+len(alerts))
	}
	members = dropLargest(members)
	kept := keep(alerts, incidents.MaxContext-size(members))
	if alerts != nil && find(members, alertsMember) >= 0 {
		members = set(set(members, alertsMember, kept), truncatedAlerts, counted+len(alerts)-len(kept))
	}
	return object(members), nil
}

// keep returns the alerts that fit into room characters: firing ones first, in the sender's order.
func keep(alerts []json.RawMessage, room int) []json.RawMessage {
	chosen := make([]bool, len(alerts))
	for _, firing := range []bool{true, false} {
		for i, raw := range alerts {
			var a struct {
				Status string `json:"status"`
			}
			_ = json.Unmarshal(raw, &a) // an unreadable status counts as firing
			if firing != (a.Status != "resolved") {
				continue
			}
			if n := incidents.JSONSize(raw) + 1; n <= room {
				room -= n
				chosen[i] = true
			}
		}
	}
	kept := []json.RawMessage{}
	for i, raw := range alerts {
		if chosen[i] {
			kept = append(kept, raw)
		}
	}
	return kept
}

// dropLargest removes the largest members until the others and truncatedMembers fit. It sorts once, so that its time
// does not depend on how many members have to go.
func dropLargest(members []member) []member {
	sizes := make([]int, len(members))
	total := 2 - min(1, len(members)) // as size
	for i, m := range members {
		sizes[i] = memberSize(m)
		total += sizes[i]
	}
	if total <= incidents.MaxContext {
		return members
	}
	bySize := make([]int, 0, len(members))
	for i, m := range members {
		if m.name == truncatedNames {
			total -= sizes[i] // it is written anew
			continue
		}
		bySize = append(bySize, i)
	}
	slices.SortStableFunc(bySize, func(a, b int) int {
		return cmp.Compare(len(members[b].value)+len(members[b].name), len(members[a].value)+len(members[a].name))
	})
	gone := make([]bool, len(members))
	dropped := []string{}
	report := member{truncatedNames, marshal(dropped)}
	for _, i := range bySize {
		if total+memberSize(report) <= incidents.MaxContext {
			break
		}
		gone[i] = true
		total -= sizes[i]
		if name := members[i].name; len(name) <= MaxKey && len(dropped) < maxNamed {
			dropped = append(dropped, name)
			report.value = marshal(dropped)
		}
	}
	kept := make([]member, 0, len(members))
	for i, m := range members {
		if !gone[i] && m.name != truncatedNames {
			kept = append(kept, m)
		}
	}
	return append(kept, report)
}

// memberSize is what a member adds to the size of its object.
func memberSize(m member) int {
	return nameSize(m.name) + incidents.JSONSize(m.value) + 2 // colon and comma
}

// nameSize is the size of a name in JSON. Most names need no escapes, and are not encoded to find out.
func nameSize(name string) int {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '/' {
			return incidents.JSONSize(marshal(name))
		}
	}
	return len(name) + 2
}

// inOrder returns the members of a valid, compact JSON object; none of any other value. The last of several members
// with the same name counts. It reads each byte once.
func inOrder(body []byte) (members []member) {
	if len(body) == 0 || body[0] != '{' {
		return nil
	}
	for i := 1; i < len(body) && body[i] == '"'; i++ { // the comma or the brace after each member
		from := i
		i = endOf(body, i)
		name := nameOf(body[from:i])
		from = i + 1 // the colon
		i = endOf(body, from)
		members = append(members, member{name, body[from:i:i]})
	}
	at := make(map[string]int, len(members))
	kept := members[:0]
	for _, m := range members {
		if k, again := at[m.name]; again {
			kept[k].value = m.value
			continue
		}
		at[m.name] = len(kept)
		kept = append(kept, m)
	}
	return kept
}

// endOf returns the end of the valid, compact JSON value that begins at i.
func endOf(body []byte, i int) int {
	depth, quoted := 0, false
	for ; i < len(body); i++ {
		c := body[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',' || c == ':') && depth == 0:
			return i
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// nameOf decodes a valid JSON string.
func nameOf(quoted []byte) (name string) {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	_ = json.Unmarshal(quoted, &name) // it is valid
	return name
}

func find(members []member, name string) int {
	return slices.IndexFunc(members, func(m member) bool { return m.name == name })
}

// set changes the value of a member, or adds the member.
func set(members []member, name string, value any) []member {
	raw := marshal(value)
	if at := find(members, name); at >= 0 {
		members[at].value = raw
		return members
	}
	return append(members, member{name, raw})
}

func object(members []member) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(marshal(m.name))
		out.WriteByte(':')
		out.Write(m.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// size is the size of the object with these members.
func size(members []member) int {
	total := 2 - min(1, len(members)) // the braces, and no comma after the last member
	for _, m := range members {
		total += memberSize(m)
	}
	return total
}

// marshal writes a value that is always valid JSON. It does not escape HTML, so the characters of the sender stay.
func marshal(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimRight(out.Bytes(), "\n")
}

// WithMember returns a JSON object with a further member at its end. The object must not have a member of that name.
func WithMember(object json.RawMessage, name string, value any) json.RawMessage {
	head := bytes.TrimRight(object, " \t\r\n")
	head = bytes.TrimRight(head[:len(head)-1], " \t\r\n") // without the brace
	out := bytes.NewBuffer(bytes.Clone(head))
	if out.Bytes()[out.Len()-1] != '{' {
		out.WriteByte(',')
	}
	out.Write(marshal(name))
	out.WriteByte(':')
	out.Write(marshal(value))
	out.WriteByte('}')
	return out.Bytes()
}
