package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// The addresses of the lists.
const (
	listOwn      = "/tokens"
	listAll      = "/tokens?all=true"
	listServices = "/service-tokens"
)

type tokenListView struct {
	page.Frame
	List    string // its address
	Tabs    []tab
	Rows    []row
	More    string // address of the next rows; "" = there are none
	Scopes  []scope
	Lives   []life
	Problem string
	Typed   tokens.Content // of a form that was refused
	Team    string         // in the same form
	Secret  string         // of the token that was just created; "" = none was
}

// OfServices reports whether the list has service tokens.
func (v tokenListView) OfServices() bool { return v.List == listServices }

// OfAll reports whether the list has the personal tokens of everybody.
func (v tokenListView) OfAll() bool { return v.List == listAll }

type tab struct{ Href, Label string }

// row is a token of either kind. Owner and Creator are "" for the reader's own tokens.
type row struct {
	ID                               tokens.ID
	Name, Owner, Creator, Revoke     string // Revoke is the address of the form that revokes it
	Scopes                           tokens.Scopes
	CreatedAt, ExpiresAt, LastUsedAt time.Time
	Expired                          bool
}

// life is a choice of the form.
type life struct {
	Days     int
	Selected bool
}

// render shows a list of tokens, and the form that creates one.
func (h TokenPages) render(rw http.ResponseWriter, r *http.Request, status int, list string, v tokenListView) {
	reader, err := h.Services.Managing(r.Context(), actor(r))
	if err == nil && list == listAll {
		err = reader.MayAdminister()
	}
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // 0 = from the newest
	if err == nil {
		v.Rows, err = h.rows(r, list, tokens.ID(max(before, 0)))
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if len(v.Rows) > page.ListLength {
		v.Rows = v.Rows[:page.ListLength]
		path, query, _ := strings.Cut(list, "?")
		more, _ := url.ParseQuery(query)
		more.Set("before", fmt.Sprint(v.Rows[len(v.Rows)-1].ID))
		v.More = path + "?" + more.Encode()
	}
	most, every := h.Most, everyPersonal
	if list == listServices {
		most, every = h.Services.Most, everyService
	}
	v.List, v.Scopes, v.Lives = list, scopes(every), lives(most, v.Typed.Life)
	v.Tabs = []tab{{listOwn, "Yours"}}
	if reader.Admin || len(reader.TeamAdminOf) > 0 {
		v.Tabs = append(v.Tabs, tab{listServices, "Service tokens"})
	}
	if reader.Admin {
		v.Tabs = append(v.Tabs, tab{listAll, "Everybody's"})
	}
	v.Frame = h.Pages.Frame(r, "Tokens", "tokens")
	h.Pages.Render(rw, r, status, "tokens", v)
}

// rows reads one row more than a list shows.
func (h TokenPages) rows(r *http.Request, list string, before tokens.ID) (out []row, err error) {
	now := time.Now()
	if list == listServices {
		found, err := h.Services.Page(r.Context(), actor(r), before, page.ListLength+1)
		for _, t := range found {
			owner := "the administrators"
			if t.TeamID != 0 {
				owner = "team " + t.Team
			}
			out = append(out, row{t.ID, t.Name, owner, t.CreatedBy, fmt.Sprintf("/service-tokens/%d/revoke", t.ID),
				t.Scopes, t.CreatedAt, t.ExpiresAt, t.LastUsedAt,
				!t.ExpiresAt.After(now)})
		}
		return out, err
	}
	of := page.Reader(r).ID
	if list == listAll {
		of = users.ID(0)
	}
	found, err := h.Tokens.Page(r.Context(), of, before, page.ListLength+1)
	for _, t := range found {
		one := row{t.ID, t.Name, "", "", fmt.Sprintf("/tokens/%d/revoke", t.ID), t.Scopes, t.CreatedAt, t.ExpiresAt,
			t.LastUsedAt, !t.ExpiresAt.After(now)}
		if list == listAll {
			one.Owner = t.UserName
		}
		out = append(out, one)
	}
	return out, err
}

const day = 24 * time.Hour

// lives returns the choices of lives that the installation allows. It selects the chosen one, or the usual one if
// chosen is 0.
func lives(most, chosen time.Duration) (out []life) {
	if chosen == 0 {
		chosen = tokens.UsualLife(most)
	}
	for _, days := range []int{1, 7, 30, 90, 180, 366} {
		if l := time.Duration(days) * day; l <= most {
			out = append(out, life{days, l == chosen.Truncate(day)})
		}
	}
	return out
}
