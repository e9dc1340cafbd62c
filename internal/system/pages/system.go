// This file serves the pages for operators: members and buckets, queues, limits, vendors, pages that reached nobody,
// refused alerts, the configuration and the versions.

package pages

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/web/page"
)

// SystemPages serves the pages. It is safe for concurrent use.
type SystemPages struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h SystemPages) Routes(r chi.Router) { page.Get(r, "/system", h.show) }

const systemAddress = "/system"

// tab is a tab of the page. It reads its data, which its template shows.
type tab struct {
	name, label string
	live        bool // refreshes itself
	admin       bool // for administrators
	read        func(h SystemPages, r *http.Request) (any, error)
}

var tabs = []tab{
	{"members", "Members", true, false, SystemPages.members},
	{"queues", "Queues", true, false, SystemPages.queues},
	{"vendors", "Vendors", true, false, SystemPages.vendors},
	{"unreached", "Reached nobody", false, false, SystemPages.unreached},
	{"contacts", "Failing contacts", false, false, SystemPages.contacts},
	{"refused", "Refused alerts", false, false, SystemPages.refused},
	{"configuration", "Configuration", false, true, SystemPages.configuration},
	{"versions", "Versions", false, false, SystemPages.versions},
}

func (h SystemPages) show(rw http.ResponseWriter, r *http.Request) {
	h.render(rw, r, r.URL.Query().Get("tab"), page.Refusal{Status: http.StatusOK})
}

// render shows a tab with its forms. refusal says why a form was refused.
func (h SystemPages) render(rw http.ResponseWriter, r *http.Request, name string, refusal page.Refusal) {
	chosen := tabs[0]
	if i := slices.IndexFunc(tabs, func(t tab) bool { return t.name == name }); i >= 0 {
		chosen = tabs[i]
	}
	if page.Unchanged(r, chosen.name) {
		return
	}
	data, err := chosen.read(h, r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	template := "system-" + chosen.name
	live, whole := h.Pages.Live(rw, r, template, data)
	if !whole {
		return
	}
	v := struct {
		page.Frame
		Tabs []page.Tab
		Live page.Live
		Self bool   // the tab refreshes itself
		Form string // name of the tab, if the reader may use its forms
		formsView
	}{h.Pages.Frame(r, "System", "system"), nil, live, chosen.live, "", formsView{Refusal: refusal}}
	if v.Admin {
		v.Form = chosen.name
		v.formsView = h.forms(r, data, refusal)
	}
	for _, t := range tabs {
		if !t.admin || v.Admin {
			v.Tabs = append(v.Tabs, page.Tab{Label: t.label, Href: systemAddress + "?tab=" + t.name,
				Current: t.name == chosen.name})
		}
	}
	h.Pages.Render(rw, r, refusal.Status, "system", v)
}

// age returns seconds as people read them.
func age(seconds float64) string { return humanize.Age(time.Duration(seconds * float64(time.Second))) }

type member struct {
	system.Member
	Colour int  // class of the owner on the map
	May    bool // the reader may drain it, or end that
}

func membersOf(all []system.Member) []member {
	out := make([]member, len(all))
	for i, m := range all {
		out[i].Member = m
	}
	return out
}

// Short is the beginning of the number of the process.
func (m member) Short() string { return m.ProcessID[:min(8, len(m.ProcessID))] }

// Heartbeat is how long ago the process was heard of.
func (m member) Heartbeat() string { return age(m.Age) }

// Lacking names the modes that only others serve; "" = none.
func (m member) Lacking() string { return strings.Join(m.Lacks, ", ") }

// Clock is how far the clock of the process is from that of the database.
func (m member) Clock() string {
	if m.Skew == nil {
		return "not known"
	}
	return clock.Describe(m.skew())
}

func (m member) skew() time.Duration { return time.Duration(*m.Skew * float64(time.Second)) }

// Wrong reports whether the clock of a process that runs differs too much.
func (m member) Wrong() bool {
	return m.State != system.Dead && m.Skew != nil && m.skew().Abs() > clock.Tolerated
}

// Chip is the kind of chip for the state.
func (m member) Chip() string {
	return map[system.State]string{system.Runs: "good", system.Drains: "warn", system.Dead: "bad"}[m.State]
}

type bucket struct {
	Number       int
	Class, Owner string
	Epoch        int64
}

// handover records that a process took buckets from another one.
type handover struct{ system.Handover }

// Short is the beginning of the number of the process that took them.
func (h handover) Short() string { return h.Owner[:min(8, len(h.Owner))] }

// From is the beginning of the number of the process that had them.
func (h handover) From() string { return string(h.Previous[:min(8, len(h.Previous))]) }

// mostRanges is how many ranges of buckets a hand-over shows.
const mostRanges = 8

// Which lists the first buckets as ranges, such as 0–3, 7.
func (h handover) Which() string {
	var parts []string
	for i := 0; i < len(h.Buckets); {
		if len(parts) == mostRanges {
			return strings.Join(parts, ", ") + " …"
		}
		j := i
		for j+1 < len(h.Buckets) && h.Buckets[j+1] == h.Buckets[j]+1 {
			j++
		}
		part := strconv.Itoa(h.Buckets[i])
		if j > i {
			part += "–" + strconv.Itoa(h.Buckets[j])
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ", ")
}

type membersView struct {
	Members   []member
	Buckets   []bucket
	Handovers []handover
	Owned     int
	Missing   int
}

// colours is how many colours the map has. Processes share a colour when there are more of them.
const colours = 12

// paint gives each member a colour of its own. A member keeps its colour when others start and stop, unless two members
// would get the same.
func paint(all []member) {
	var used [colours]bool
	for i := range all {
		f := fnv.New32a()
		_, _ = f.Write([]byte(all[i].ProcessID))
		c := int(f.Sum32() % colours)
		for n := 0; n < colours && used[c]; n++ {
			c = (c + 1) % colours
		}
		all[i].Colour, used[c] = c, true
	}
}

func (h SystemPages) members(r *http.Request) (any, error) {
	found, err := h.System.Members.Do(r.Context(), page.Actor(r), operation.None{})
	if err != nil {
		return nil, err
	}
	moved, err := h.System.Handovers.Do(r.Context(), page.Actor(r), operation.None{})
	if err != nil {
		return nil, err
	}
	v := membersView{Members: membersOf(found.Members)}
	for _, one := range moved.Items[:min(len(moved.Items), 12)] {
		v.Handovers = append(v.Handovers, handover{one})
	}
	slices.SortStableFunc(v.Members, func(a, b member) int { return a.StartedAt.Compare(b.StartedAt) }) // the newest last
	paint(v.Members)
	owners := map[string]member{}
	admin := page.Reader(r).Admin
	for i := range v.Members {
		v.Members[i].May = admin && v.Members[i].State != system.Dead
		if m := v.Members[i]; m.State != system.Dead {
			owners[m.ProcessID] = m
		}
	}
	for n, b := range found.Buckets {
		row := bucket{n, "unowned", "no running owner", b.Epoch}
		if m, ok := owners[string(b.Owner)]; ok {
			row.Class, row.Owner = "m"+strconv.Itoa(m.Colour), m.Short()+" on "+m.Host
			v.Owned++
		}
		v.Buckets = append(v.Buckets, row)
	}
	v.Missing = len(v.Buckets) - v.Owned
	return v, nil
}

type queue struct{ system.Queue }

// Age is how long the oldest message waits.
func (q queue) Age() string { return age(q.Oldest) }

type limit struct{ system.Limit }

// Use returns the calls of the last minute and how many the limit allows.
func (l limit) Use() string {
	if l.PerMinute == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f of %.0f", l.Used, l.PerMinute)
}

// Share is the used part of the limit, in percent.
func (l limit) Share() int { return int(min(100, 100*l.Used/max(1, l.PerMinute))) }

// Wait is how long the next call waits.
func (l limit) Wait() string { return age(l.Ahead) }

type queuesView struct {
	Queues []queue
	Limits []limit
}

func (h SystemPages) queues(r *http.Request) (any, error) {
	waiting, err := h.System.Queues.Do(r.Context(), page.Actor(r), operation.None{})
	if err != nil {
		return nil, err
	}
	used, err := h.System.Limits.Do(r.Context(), page.Actor(r), operation.None{})
	v := queuesView{}
	for _, one := range waiting.Items {
		v.Queues = append(v.Queues, queue{one})
	}
	for _, one := range used.Items {
		v.Limits = append(v.Limits, limit{one})
	}
	return v, err
}

type vendor system.Vendor

// Chip is the health as text, with the kind of its chip.
func (v vendor) Chip() page.Option {
	return map[system.Health]page.Option{system.Works: {Value: "good", Label: "works"},
		system.SomeCallsFailed: {Value: "warn", Label: "some calls failed"},
		system.LastCallFailed:  {Value: "bad", Label: "last call failed"}}[v.Health]
}

type pause struct{ system.Pause }

// For is how long the pause lasts.
func (p pause) For() string { return age(p.Left) }

type vendorsView struct {
	Items        []vendor
	Pauses       []pause
	Applications []string
	May          bool // the reader may end pauses
}

func (h SystemPages) vendors(r *http.Request) (any, error) {
	found, err := h.System.Vendors.Do(r.Context(), page.Actor(r), operation.None{})
	v := vendorsView{Applications: found.Applications, May: page.Reader(r).Admin}
	for _, one := range found.Items {
		v.Items = append(v.Items, vendor(one))
	}
	for _, one := range found.Pauses {
		v.Pauses = append(v.Pauses, pause{one})
	}
	return v, err
}

// rows is a page of a list, and the address of the next one.
type rows[T any] struct {
	Rows []T
	More string
}

// listed reads a page of the list of a tab.
func listed[T any](r *http.Request, tab string, list operation.Op[operation.Paging, operation.Page[T]]) (any, error) {
	found, err := list.Do(r.Context(), page.Actor(r), operation.Paging{Limit: 50, Cursor: r.URL.Query().Get("cursor")})
	v := rows[T]{Rows: found.Items}
	if found.Next != nil {
		v.More = page.Query(systemAddress, "tab", tab, "cursor", *found.Next)
	}
	return v, err
}

func (h SystemPages) contacts(r *http.Request) (any, error) {
	return listed(r, "contacts", h.System.Contacts)
}

func (h SystemPages) unreached(r *http.Request) (any, error) {
	return listed(r, "unreached", h.System.Unreached)
}

// mostPages is how many pages of integrations the tab reads.
const mostPages = 10

func (h SystemPages) refused(r *http.Request) (any, error) {
	var all []integrations.Row
	f := integrations.Filter{Paging: operation.Paging{Limit: 500}, Refused: true}
	for range mostPages {
		found, err := h.Integrations.List.Do(r.Context(), page.Actor(r), f)
		if err != nil {
			return nil, err
		}
		all = append(all, found.Items...)
		if f.Cursor = page.Next(found.Next); f.Cursor == "" {
			break
		}
	}
	slices.SortFunc(all, func(a, b integrations.Row) int { return refusedAt(b).Compare(refusedAt(a)) })
	return all, nil
}

// refusedAt returns when an integration refused a delivery; zero = never.
func refusedAt(i integrations.Row) (at time.Time) {
	if i.Activity.LastRefusedAt != nil {
		at = *i.Activity.LastRefusedAt
	}
	return at
}

type settingGroup struct {
	Name string
	Rows []system.Setting
}

func (h SystemPages) configuration(r *http.Request) (any, error) {
	found, err := h.System.Settings.Do(r.Context(), page.Actor(r), operation.None{})
	if err != nil {
		return nil, err
	}
	var groups []settingGroup
	for _, s := range found.Items {
		name, _, nested := strings.Cut(s.Key, ".")
		if name, _, _ = strings.Cut(name, "["); !nested {
			name = "general"
		}
		i := slices.IndexFunc(groups, func(g settingGroup) bool { return g.Name == name })
		if i < 0 {
			i, groups = len(groups), append(groups, settingGroup{Name: name})
		}
		groups[i].Rows = append(groups[i].Rows, s)
	}
	return groups, nil
}

type library struct{ Name, Version, Licence, File string }

type versionsView struct {
	Version        string
	Schema, Wanted int64
	Members        []member
	Bundled        []library
}

func (h SystemPages) versions(r *http.Request) (any, error) {
	found, err := h.System.Members.Do(r.Context(), page.Actor(r), operation.None{})
	return versionsView{found.Version, found.Schema, found.SchemaWanted, membersOf(found.Members), []library{
		{"htmx", "2.0.11", "Zero-Clause BSD", "vendor/htmx.LICENSE"},
		{"EventCalendar", "5.10.1", "MIT", "vendor/event-calendar.LICENSE"},
		{"uPlot", "1.6.32", "MIT", "vendor/uplot.LICENSE"},
	}}, err
}
