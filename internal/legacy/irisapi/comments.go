package irisapi

import (
	"errors"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

var commentColumns = Columns[incidents.Comment]{
	{"author", func(c incidents.Comment) any { return c.Author }},
	{"created", func(c incidents.Comment) any { return Unix(c.CreatedAt) }},
	{"content", func(c incidents.Comment) any { return c.Content }},
}

func (a comments) list(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	comments, err := a.Incidents.Comments(r.Context(), id)
	return Answer(w, commentColumns.Records(comments), err)
}

func (a comments) add(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	b := ReadBody(w, r, "")
	author, content := b.Required("author"), b.Required("content")
	b.Check(content != "", fault.Invalidf("content", "Empty comment"))
	if err := b.Err(); err != nil {
		return err
	}
	user, err := Person(r.Context(), a.People, author)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if !wire.Actor(r.Context()).MayActAs(user, a.Openings) {
		return fault.New(fault.Forbidden, "Comment author must match logged in user")
	}
	if err == nil && !user.Active {
		err = fault.New(fault.NotFound, "the author is not active")
	}
	var n int64
	if err == nil {
		n, err = a.Incidents.AddComment(r.Context(), id, user, content)
	}
	if errors.Is(err, auth.ErrNotReached) {
		return err
	}
	return Created(w, n, "", fault.When(err, fault.NotFound, fault.New(fault.Invalid, "Failed to post comment")))
}
