package scim

import (
	"encoding/json"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Schemas of the resources (RFC 7643, section 10).
const (
	UserSchema       = "urn:ietf:params:scim:schemas:core:2.0:User"
	GroupSchema      = "urn:ietf:params:scim:schemas:core:2.0:Group"
	EnterpriseSchema = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
)

// Document holds the attributes of a resource under their canonical names. Attributes that Iris does not keep are not
// in it.
type Document map[string]any

// Kind is a type of resources.
type Kind struct {
	Name, Schema string
	attributes   map[string]attribute // by name in lower case
}

// attribute is an attribute that Iris keeps.
type attribute struct {
	name string
	form form
	sub  map[string]string // canonical names of sub-attributes, by name in lower case
}

type form int

const (
	text form = iota
	boolean
	object // one value with sub-attributes
	list   // several such values
	open   // an object whose members are kept as they are
)

func names(canonical ...string) map[string]string {
	out := map[string]string{}
	for _, name := range canonical {
		out[strings.ToLower(name)] = name
	}
	return out
}

func kind(name, schema string, attributes ...attribute) Kind {
	k := Kind{Name: name, Schema: schema, attributes: map[string]attribute{}}
	for _, a := range attributes {
		k.attributes[strings.ToLower(a.name)] = a
	}
	return k
}

// The kinds of resources.
var (
	User = kind("User", UserSchema,
		attribute{name: "userName"}, attribute{name: "externalId"}, attribute{name: "displayName"}, attribute{name: "title"}, attribute{name: "timezone"},
		attribute{name: "active", form: boolean},
		attribute{name: "name", form: object, sub: names("formatted", "givenName", "familyName", "middleName",
			"honorificPrefix", "honorificSuffix")},
		attribute{name: "emails", form: list, sub: names("value", "type", "primary", "display")},
		attribute{name: "phoneNumbers", form: list, sub: names("value", "type", "primary", "display")},
		attribute{name: EnterpriseSchema, form: open})
	Group = kind("Group", GroupSchema,
		attribute{name: "displayName"}, attribute{name: "externalId"},
		attribute{name: "members", form: list, sub: names("value")})
)

// Limits of documents.
const (
	maxText   = 500 // bytes of a text
	maxValues = 20  // e-mail addresses or phone numbers
	// MaxMembers is how many members a group can have.
	MaxMembers = 20_000
	maxOpen    = 10_000 // bytes of the extension
)

func invalid(field, format string, args ...any) error {
	f := fault.Newf(fault.Invalid, format, args...)
	f.Field = field
	return f
}

// Read returns the document of a whole resource, as POST and PUT send it.
func (k Kind) Read(raw map[string]any) (Document, error) {
	d := Document{}
	for name, value := range raw {
		a, known := k.attributes[strings.ToLower(name)]
		if !known || value == nil {
			continue
		}
		v, err := a.read(value)
		if err != nil {
			return nil, err
		}
		d[a.name] = v
	}
	return d, k.check(d)
}

// check completes a document and refuses one that cannot be stored.
func (k Kind) check(d Document) error {
	required := "displayName"
	if k.Name == User.Name {
		required = "userName"
		if d["active"] == nil {
			d["active"] = true
		}
	}
	if strings.TrimSpace(d.Text(required)) == "" {
		return invalid(required, "%s is required", required)
	}
	for name, most := range map[string]int{"emails": maxValues, "phoneNumbers": maxValues, "members": MaxMembers} {
		if values, _ := d[name].([]any); len(values) > most {
			return invalid(name, "%s may have at most %d values", name, most)
		}
	}
	for _, v := range d.values("emails") {
		if address, _ := v["value"].(string); address != "" {
			if _, err := mail.ParseAddress(address); err != nil {
				return invalid("emails", "emails has a value that is no e-mail address")
			}
		}
	}
	return nil
}

// read returns a value in the form of the attribute.
func (a attribute) read(value any) (any, error) {
	switch a.form {
	case boolean:
		return a.flag(value)
	case object:
		return a.object(value)
	case list:
		return a.list(value)
	case open:
		v, ok := value.(map[string]any)
		raw, err := json.Marshal(v)
		if !ok || err != nil || len(raw) > maxOpen || null.Match(raw) {
			return nil, invalid(a.name, "%s must be an object of at most %d bytes without null characters", a.name,
				maxOpen)
		}
		return v, nil
	}
	return a.text(a.name, value)
}

// null is JSON with a null character, which the database cannot keep. It also takes a text with a backslash before
// u0000.
var null = regexp.MustCompile(`\\u0000`)

func (a attribute) text(name string, value any) (string, error) {
	s, ok := value.(string)
	if !ok || len(s) > maxText || strings.ContainsRune(s, 0) {
		return "", invalid(name, "%s must be a text of at most %d bytes", name, maxText)
	}
	return s, nil
}

// flag reads a truth value. Entra ID sends it as a text.
func (a attribute) flag(value any) (bool, error) {
	switch v := value.(type) {
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(strings.ToLower(v)); err == nil {
			return b, nil
		}
	}
	return false, invalid(a.name, "%s must be true or false", a.name)
}

func (a attribute) object(value any) (map[string]any, error) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, invalid(a.name, "%s must be an object", a.name)
	}
	out := map[string]any{}
	for name, v := range given {
		canonical, known := a.sub[strings.ToLower(name)]
		if !known || v == nil {
			continue
		}
		var err error
		if canonical == "primary" {
			out[canonical], err = attribute{name: a.name + ".primary"}.flag(v)
		} else {
			out[canonical], err = a.text(a.name+"."+canonical, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// list reads several values. A single value is a list of one. Values without an attribute "value" are left out.
func (a attribute) list(value any) ([]any, error) {
	given, ok := value.([]any)
	if !ok {
		given = []any{value}
	}
	out := []any{}
	for _, v := range given {
		if v == nil {
			continue
		}
		one, err := a.object(v)
		if err != nil {
			return nil, err
		}
		if s, _ := one["value"].(string); s != "" {
			out = append(out, one)
		}
	}
	return out, nil
}

// Text returns a text; "" = there is none.
func (d Document) Text(name string) string {
	s, _ := d[name].(string)
	return s
}

// Active reports whether the person is active.
func (d Document) Active() bool {
	active, ok := d["active"].(bool)
	return active || !ok
}

// FullName returns the name of a person as people write it.
func (d Document) FullName() string {
	name, _ := d["name"].(map[string]any)
	part := func(key string) string { s, _ := name[key].(string); return s }
	for _, s := range []string{part("formatted"), strings.TrimSpace(part("givenName") + " " + part("familyName")), d.Text("displayName")} {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// Contacts returns the contacts of a person: the e-mail address, and the number of the mobile phone for texts and
// calls. Of several values the primary one counts, then the one for work or the mobile one, then the first. unclear are
// the modes whose value cannot be used.
func (d Document) Contacts(region users.Region) (out map[users.Mode]string, unclear []users.Mode) {
	out = map[users.Mode]string{}
	if address := d.best("emails", "work"); users.CheckContact(users.Email, address) == nil {
		out[users.Email] = address
	}
	number := d.best("phoneNumbers", "mobile")
	for _, mode := range []users.Mode{users.SMS, users.Call} {
		if to, err := region.Contact(mode, number); err == nil {
			out[mode] = to
		} else if number != "" {
			unclear = append(unclear, mode)
		}
	}
	return out, unclear
}

func (d Document) values(name string) []map[string]any {
	given, _ := d[name].([]any)
	out := make([]map[string]any, 0, len(given))
	for _, v := range given {
		if one, ok := v.(map[string]any); ok {
			out = append(out, one)
		}
	}
	return out
}

func (d Document) best(name, wanted string) string {
	values := d.values(name)
	if len(values) == 0 {
		return ""
	}
	best := slices.MaxFunc(values, func(a, b map[string]any) int { return rank(a, wanted) - rank(b, wanted) })
	s, _ := best["value"].(string)
	return strings.TrimSpace(strings.TrimPrefix(s, "tel:"))
}

func rank(v map[string]any, wanted string) int {
	kind, _ := v["type"].(string)
	primary, _ := v["primary"].(bool)
	switch {
	case primary:
		return 2
	case strings.EqualFold(kind, wanted):
		return 1
	}
	return 0
}

// Members returns the ids of the members of a group, each once, in order.
func (d Document) Members() []string {
	seen := map[string]bool{}
	for _, v := range d.values("members") {
		if id, _ := v["value"].(string); id != "" {
			seen[id] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// WithMembers returns the document of a group with these members.
func (d Document) WithMembers(ids []string) Document {
	d = maps.Clone(d)
	members := make([]any, 0, len(ids))
	for _, id := range ids {
		members = append(members, map[string]any{"value": id})
	}
	d["members"] = members
	return d
}
