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

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
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

// Head returns the version without its content.
func (v Version) Head() Version { return v }

// Index is a page of a list of plans, templates or applications: those of the reader, or all.
type Index[T any] struct {
	Frame
	Search, Team string
	Mine         bool
	Tabs         []Tab
	Items        []T
	Next         string // address of the next page; "" = there is none
}

// ReadIndex reads the list /v1/section as the address of r asks: name, a part of the name; team; show, mine or all; cursor. mine and value
// are the parameter of the API that selects the objects of the reader, and its value. If the address has no parameters, the page shows the
// objects of the reader, or all if there are none.
func ReadIndex[T any](p *Pages, r *http.Request, title, section, mine, value string) (v Index[T], err error) {
	q := r.URL.Query()
	text := func(name string) string { return strings.TrimSpace(Storable(q.Get(name))) }
	v = Index[T]{Frame: p.Frame(r, title, section), Search: text("name"), Team: text("team"), Mine: q.Get("show") == "mine" || len(q) == 0}
	read := func() (found Listed[T], err error) {
		return found, p.API(r).Get(Query("/v1/"+section, "limit", strconv.Itoa(ListLength), "search", v.Search, "team", v.Team, "cursor", q.Get("cursor"),
			mine, map[bool]string{true: value}[v.Mine]), &found)
	}
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
	v.Items, v.Tabs = found.Items, []Tab{{Label: "Mine and my teams'", Href: here("mine", ""), Current: v.Mine}, {Label: "All", Href: here("all", ""), Current: !v.Mine}}
	if found.Next != "" {
		v.Next = here(map[bool]string{true: "mine", false: "all"}[v.Mine], found.Next)
	}
	return v, nil
}

// Find reads an object of /v1/section by its number or its name. If no version of a name is active, it reads the newest.
func Find[T any](api API, section, name string) (found T, err error) {
	name = Storable(name)
	err = api.Get(Path("/v1/"+section+"/%s", name), &found)
	if !fault.Is(err, fault.NotFound) {
		return found, err
	}
	newest := api.Versions(section, name, "", 1)
	if len(newest.Items) == 0 {
		return found, err
	}
	return found, api.Get(Path("/v1/"+section+"/%s", newest.Items[0].ID), &found)
}

// Versions reads versions of a name, the newest first. If they cannot be read, there are none.
func (a API) Versions(section, name, cursor string, limit int) (found Listed[Version]) {
	_ = a.Get(Query("/v1/"+section, "versions", "all", "name", name, "limit", strconv.Itoa(limit), "cursor", cursor), &found) // the page can do without the other versions
	return found
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

// Compare returns the page of the versions of a plan or a template, and of the difference of two of them: ?from=NUMBER&to=NUMBER. Without these,
// the version in the parameter of the path is compared with the one before.
func Compare[T interface {
	Head() Version
	Text() string
}](p *Pages, section, parameter string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		api, q := p.API(r), r.URL.Query()
		shown, err := Find[T](api, section, wire.Param(r, parameter))
		if err != nil {
			p.Fail(rw, r, err)
			return
		}
		name := shown.Head().Name
		read := func(number string) (one T, err error) {
			if one, err = Find[T](api, section, number); err == nil && !strings.EqualFold(one.Head().Name, name) {
				err = fault.New(fault.NotFound, "a version of another name")
			}
			return one, err
		}
		all, from := api.Versions(section, name, q.Get("cursor"), ListLength), q.Get("from")
		if q.Get("to") != "" {
			shown, err = read(q.Get("to"))
		}
		v := versionsView{Frame: p.Frame(r, "Versions of "+name, section), Versions: all.Items, To: shown.Head()}
		if i := slices.IndexFunc(all.Items, func(one Version) bool { return one.ID < v.To.ID }); from == "" && i >= 0 {
			from = strconv.FormatInt(all.Items[i].ID, 10)
		}
		if err == nil && from != "" {
			var before T
			before, err = read(from)
			v.From, v.Diff = before.Head(), Diff(before.Text(), shown.Text())
		}
		if err != nil {
			p.Fail(rw, r, err)
			return
		}
		if all.Next != "" {
			v.Next = Query(r.URL.Path, "cursor", all.Next)
		}
		p.Render(rw, r, http.StatusOK, "versions", v)
	}
}

// Teams returns the teams of the reader. If they cannot be read, there are none.
func (a API) Teams() []string {
	var me struct {
		Teams []string `json:"teams"`
	}
	_ = a.Get(Path("/v1/users/%s", a.Reader()), &me) // pages only suggest teams, and hide buttons
	return me.Teams
}

// Change sends a form about an object to an API. It returns the message for the next page, and the address of that page; "" = the page of
// the object.
type Change func(api API, o Version, typed url.Values) (done, to string, err error)

// Submit returns the handler of a form about the object of /v1/section in the parameter of the path. again shows the page of the object with a
// refused form, whose name is the last segment of its address.
func (p *Pages) Submit(section, parameter string, again func(http.ResponseWriter, *http.Request, Again), do Change) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		typed, api := Typed(r), p.API(r)
		o, err := Find[Version](api, section, wire.Param(r, parameter))
		if err != nil {
			p.Fail(rw, r, err)
			return
		}
		done, to, err := do(api, o, typed)
		p.Finish(rw, r, done, cmp.Or(to, Path("/"+section+"/%s", o.Name)), err, func(refusal Refusal) {
			path := strings.TrimSuffix(r.URL.EscapedPath(), "/")
			again(rw, r, Again{path[strings.LastIndexByte(path, '/')+1:], typed, refusal})
		})
	}
}

// Give returns the form that gives an object of /v1/section to the team that was typed; "" = to no team.
func Give(section string) Change {
	return func(api API, o Version, typed url.Values) (string, string, error) {
		team, done := typed.Get("team"), o.Name+" belongs to no team now."
		if team != "" {
			done = "Team " + team + " owns " + o.Name + " now."
		}
		return done, "", api.Send(http.MethodPut, Path("/v1/"+section+"/%s/owner", o.Name), map[string]string{"team": team}, nil)
	}
}

// Activate returns the form that makes a version of /v1/section the active one.
func Activate(section string) Change {
	return func(api API, o Version, _ url.Values) (string, string, error) {
		return fmt.Sprintf("Version %d is active now.", o.ID), "", api.Send(http.MethodPost, Path("/v1/"+section+"/%s/versions/%s/activate", o.Name, o.ID), nil, nil)
	}
}
