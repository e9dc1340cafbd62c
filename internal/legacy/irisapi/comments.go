package irisapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
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
	b.Check(strings.TrimSpace(content) != "", fault.Invalidf("content", "Empty comment"))
	if err := b.Err(); err != nil {
		return err
	}
	user, err := Person(r.Context(), a.People, author)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	by := a.caller(r.Context())
	if !auth.MayActAs(by, user) {
		return fault.New(fault.Forbidden, "Comment author must match logged in user")
	}
	failed := fault.New(fault.Invalid, "Failed to post comment")
	if err != nil || !user.Active {
		return failed
	}
	made, err := a.Operations.AddComment.DoValid(r.Context(), by, incidents.Commenting{One: incidents.One{ID: id},
		Body: incidents.NewComment{Content: content, Author: operation.Text(author)}})
	if errors.Is(err, operation.ErrNotReached) {
		return err
	}
	return Created(w, made.ID, "", fault.When(err, fault.NotFound, failed))
}
