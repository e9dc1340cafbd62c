package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/operation"
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
	ID                           tokens.ID
	Name, Owner, Creator, Revoke string // Revoke is the address of the form that revokes it
	Scopes                       tokens.Scopes
	CreatedAt, ExpiresAt         time.Time
	LastUsedAt                   *time.Time // nil = never
	Expired                      bool
}

// life is a choice of the form.
type life struct {
	Days     int
	Selected bool
}

// render shows a list of tokens, and the form that creates one.
func (h TokenPages) render(rw http.ResponseWriter, r *http.Request, status int, list string, v tokenListView) {
	reader, err := h.Services.Managing(r.Context(), page.Actor(r))
	more := false
	if err == nil {
		v.Rows, more, err = h.rows(r, list)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if more {
		path, query, _ := strings.Cut(list, "?")
		more, _ := url.ParseQuery(query)
		more.Set("before", fmt.Sprint(v.Rows[len(v.Rows)-1].ID))
		v.More = path + "?" + more.Encode()
	}
	most, every := h.Tokens.Most, everyPersonal
	if list == listServices {
		most, every = h.Services.Most, everyService
	}
	v.List, v.Scopes, v.Lives = list, scopes(every), lives(most, v.Typed.Life)
	v.Tabs = []tab{{listOwn, "Yours"}}
	admin := reader.Role == operation.Admin
	if admin || len(reader.Manages) > 0 {
		v.Tabs = append(v.Tabs, tab{listServices, "Service tokens"})
	}
	if admin {
		v.Tabs = append(v.Tabs, tab{listAll, "Everybody's"})
	}
	v.Frame = h.Pages.Frame(r, "Tokens", "tokens")
	h.Pages.Render(rw, r, status, "tokens", v)
}

// rows returns the rows of a list, and whether there are more.
func (h TokenPages) rows(r *http.Request, list string) (out []row, more bool, err error) {
	now, part := time.Now(), operation.Paging{Limit: page.ListLength}
	if before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64); before > 0 { // else from the newest
		part.Cursor = operation.CursorOf(before)
	}
	if list == listServices {
		found, err := h.Services.List.Do(r.Context(), page.Actor(r), part)
		for _, t := range found.Items {
			owner := "the administrators"
			if t.TeamID != 0 {
				owner = "team " + string(t.Team)
			}
			out = append(out, row{t.ID, t.Name, owner, t.CreatedBy, fmt.Sprintf("/service-tokens/%d/revoke", t.ID),
				t.Scopes, t.CreatedAt, t.ExpiresAt, t.LastUsedAt, !t.ExpiresAt.After(now)})
		}
		return out, found.Next != nil, err
	}
	found, err := h.Tokens.List.Do(r.Context(), page.Actor(r), tokens.Filter{Paging: part, All: list == listAll})
	for _, t := range found.Items {
		one := row{t.ID, t.Name, "", "", fmt.Sprintf("/tokens/%d/revoke", t.ID), t.Scopes, t.CreatedAt, t.ExpiresAt,
			t.LastUsedAt, !t.ExpiresAt.After(now)}
		if list == listAll {
			one.Owner = t.UserName
		}
		out = append(out, one)
	}
	return out, found.Next != nil, err
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
