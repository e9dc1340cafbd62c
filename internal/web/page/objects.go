package page

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Version has the fields that plans, templates and applications share in /v1. Applications have a name and a team only.
type Version struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Active    bool      `json:"active"`
	Creator   string    `json:"creator"`
	Team      string    `json:"team"`
	CreatedAt time.Time `json:"created_at"`
	MayEdit   bool      `json:"may_edit"` // the reader; false in lists
}

// Index is a page of a list of plans, templates or applications: those of the reader, or all.
type Index[T any] struct {
	Frame
	Search, Team string
	Mine         bool
	Tabs         []Tab
	Items        []T
	Next         string // address of the next page; "" = there is none
}

// Search is what the page of a list asks for.
type Search struct {
	Name, Team, Cursor string // Name is a part of the name
	Mine               bool   // only objects of the reader
}

// ReadIndex reads the page of a list as the address of r asks: name, a part of the name; team; show, mine or all;
// cursor. If the address has no parameters, the page shows the objects of the reader, or all if there are none.
func ReadIndex[T any](p *Pages, r *http.Request, title, section string, list func(*http.Request, Search) (operation.Page[T], error)) (v Index[T], err error) {
	q := r.URL.Query()
	text := func(name string) string { return strings.TrimSpace(Storable(q.Get(name))) }
	v = Index[T]{Frame: p.Frame(r, title, section), Search: text("name"), Team: text("team"),
		Mine: q.Get("show") == "mine" || len(q) == 0}
	read := func() (operation.Page[T], error) { return list(r, Search{v.Search, v.Team, q.Get("cursor"), v.Mine}) }
	found, err := read()
	if err == nil && len(q) == 0 && len(found.Items) == 0 {
		v.Mine = false
		found, err = read()
	}
	if err != nil {
		return v, err
	}
	here := func(show, cursor string) string {
		return Query("/"+section, "show", show, "name", v.Search, "team", v.Team, "cursor", cursor)
	}
	v.Items, v.Tabs = found.Items, []Tab{{Label: "Mine and my teams'", Href: here("mine", ""), Current: v.Mine},
		{Label: "All", Href: here("all", ""), Current: !v.Mine}}
	if found.Next != nil {
		v.Next = here(map[bool]string{true: "mine", false: "all"}[v.Mine], *found.Next)
	}
	return v, nil
}

// Objects reads and changes the plans, templates or applications that pages are about, as the reader of the request.
type Objects[T any] struct {
	Section   string // of the address, such as plans
	Parameter string // of the address, which names the object
	// Read takes the number of any version, or the name of the active one.
	Read func(r *http.Request, numberOrName string) (T, error)
	Head func(T) Version
	// Text returns the content as lines that people can compare.
	Text func(T) string
	// Versions reads versions of a name, the newest first.
	Versions func(r *http.Request, name, cursor string, limit int) (operation.Page[Version], error)
	Activate func(r *http.Request, o Version) error
	Give     func(r *http.Request, o Version, team string) error
}

// Find reads the object that the address names. If no version of a name is active, it reads the newest.
func (o Objects[T]) Find(r *http.Request) (T, error) { return o.Named(r, wire.Param(r, o.Parameter)) }

// Named is Find for a number or a name.
func (o Objects[T]) Named(r *http.Request, numberOrName string) (T, error) {
	numberOrName = Storable(numberOrName)
	found, err := o.Read(r, numberOrName)
	if !fault.Is(err, fault.NotFound) || o.Versions == nil {
		return found, err
	}
	newest, wrong := o.Versions(r, numberOrName, "", 1)
	if wrong != nil || len(newest.Items) == 0 {
		return found, err
	}
	return o.Read(r, strconv.FormatInt(newest.Items[0].ID, 10))
}

// ShownVersions is how many versions the page of an object lists.
const ShownVersions = 10

type versionsView struct {
	Frame
	From, To Version
	Versions []Version
	Diff     []DiffLine
	Next     string
}

// Compare returns the page of the versions of an object, and of the difference of two of them: ?from=NUMBER&to=NUMBER.
// Without these, the version in the address is compared with the one before.
func (o Objects[T]) Compare(p *Pages) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		shown, err := o.Find(r)
		name := o.Head(shown).Name
		var all operation.Page[Version]
		if err == nil {
			all, err = o.Versions(r, name, q.Get("cursor"), ListLength)
		}
		if err != nil {
			p.Fail(rw, r, err)
			return
		}
		read := func(number string) (one T, err error) {
			if one, err = o.Named(r, number); err == nil && !strings.EqualFold(o.Head(one).Name, name) {
				err = fault.New(fault.NotFound, "a version of another name")
			}
			return one, err
		}
		from := q.Get("from")
		if q.Get("to") != "" {
			shown, err = read(q.Get("to"))
		}
		v := versionsView{Frame: p.Frame(r, "Versions of "+name, o.Section), Versions: all.Items, To: o.Head(shown)}
		if i := slices.IndexFunc(all.Items, func(one Version) bool { return one.ID < v.To.ID }); from == "" && i >= 0 {
			from = strconv.FormatInt(all.Items[i].ID, 10)
		}
		if err == nil && from != "" {
			var before T
			before, err = read(from)
			v.From, v.Diff = o.Head(before), Diff(o.Text(before), o.Text(shown))
		}
		if err != nil {
			p.Fail(rw, r, err)
			return
		}
		if all.Next != nil {
			v.Next = Query(r.URL.Path, "cursor", *all.Next)
		}
		p.Render(rw, r, http.StatusOK, "versions", v)
	}
}

// Change carries out a form about an object. It returns the message for the next page, and the address of that page; ""
// = the page of the object.
type Change func(r *http.Request, o Version, typed url.Values) (done, to string, err error)

// Submit returns the handler of a form about the object in the address. again shows the page of the object with a
// refused form, whose name is the last segment of its address.
func (o Objects[T]) Submit(p *Pages, again func(http.ResponseWriter, *http.Request, Again), do Change) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		typed := Typed(r)
		found, err := o.Find(r)
		if err != nil {
			p.Fail(rw, r, err)
			return
		}
		head := o.Head(found)
		done, to, err := do(r, head, typed)
		p.Finish(rw, r, done, cmp.Or(to, Path("/"+o.Section+"/%s", head.Name)), err, func(refusal Refusal) {
			path := strings.TrimSuffix(r.URL.EscapedPath(), "/")
			again(rw, r, Again{path[strings.LastIndexByte(path, '/')+1:], typed, refusal})
		})
	}
}

// ToTeam is the form that gives the object to the team that was typed; "" = to no team.
func (o Objects[T]) ToTeam(r *http.Request, head Version, typed url.Values) (string, string, error) {
	team, done := typed.Get("team"), head.Name+" belongs to no team now."
	if team != "" {
		done = "Team " + team + " owns " + head.Name + " now."
	}
	return done, "", o.Give(r, head, team)
}

// ToActive is the form that makes a version the active one.
func (o Objects[T]) ToActive(r *http.Request, head Version, _ url.Values) (string, string, error) {
	return fmt.Sprintf("Version %d is active now.", head.ID), "", o.Activate(r, head)
}
