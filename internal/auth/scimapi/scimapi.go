package scimapi

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// maxBody is the largest body in bytes. A group of 20,000 members has about 800 kB.
const maxBody = 2 << 20

// Connections finds the connection of a token by its hash. An unknown token is an Unauthenticated fault.
type Connections interface {
	Use(ctx context.Context, hash []byte) (scim.Connection, error)
}

// Deps are the parts that the routes work on.
type Deps struct {
	Connections Connections
	Users       scim.Users
	Groups      scim.Groups
	// Policy returns the policy of a connection.
	Policy    func(scim.Connection) scim.Policy
	PublicURL string
	Errors    *wire.Errors
}

// API serves the routes. It is safe for concurrent use.
type API struct{ Deps }

// New returns the API.
func New(d Deps) *API { return &API{d} }

// Routes mounts the routes.
func (a *API) Routes(r chi.Router) {
	r.Route("/scim/v2", func(r chi.Router) {
		r.NotFound(a.serve(func(call) (answer, error) {
			return answer{},
				fault.New(fault.NotFound, "there is no such resource")
		}))
		r.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusMethodNotAllowed, "", "this method is not allowed here")
		})
		r.Get("/ServiceProviderConfig", a.serve(a.config))
		r.Get("/ResourceTypes", a.serve(a.resourceTypes))
		r.Get("/ResourceTypes/{id}", a.serve(a.resourceTypes))
		r.Get("/Schemas", a.serve(a.schemas))
		r.Get("/Schemas/{id}", a.serve(a.schemas))
		for path, of := range map[string]resources{
			"/Users": {kind: scim.User, list: a.Users.Users, create: a.Users.CreateUser, save: a.Users.SaveUser,
				remove: a.Users.DeleteUser, patched: http.StatusOK},
			"/Groups": {kind: scim.Group, list: a.Groups.Groups, create: a.Groups.CreateGroup,
				save: a.Groups.SaveGroup, remove: a.Groups.DeleteGroup, patched: http.StatusNoContent},
		} {
			of.api = a
			r.Get(path, a.serve(of.search))
			r.Post(path, a.serve(of.post))
			r.Get(path+"/{id}", a.serve(of.get))
			r.Put(path+"/{id}", a.serve(of.put))
			r.Patch(path+"/{id}", a.serve(of.patch))
			r.Delete(path+"/{id}", a.serve(of.delete))
		}
	})
}

// call is an authenticated request.
type call struct {
	*http.Request
	body       []byte
	connection scim.Connection
	policy     scim.Policy
}

// answer is a successful answer. Without content it has no body.
type answer struct {
	status   int
	content  any
	location string
	tag      string
}

const mediaType = "application/scim+json"

// serve returns a handler that authenticates the directory, reads the body, and writes the answer or an error in SCIM's
// form.
func (a *API) serve(h func(call) (answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		c, err := a.begin(w, r)
		var out answer
		if err == nil {
			out, err = h(c)
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		if out.location != "" {
			w.Header().Set("Location", out.location)
		}
		if out.tag != "" {
			w.Header().Set("ETag", out.tag)
		}
		write(w, out.status, out.content)
	}
}

// begin authenticates a request and reads its body.
func (a *API) begin(w http.ResponseWriter, r *http.Request) (c call, err error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	secret = strings.TrimSpace(secret)
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return c, fault.New(fault.Unauthenticated, "send the token of the SCIM connection: Authorization: Bearer TOKEN")
	}
	kind, hash, err := tokens.Hash(secret)
	if err == nil && kind != tokens.ForDirectory {
		err = tokens.ErrInvalid
	}
	if err != nil {
		return c, err
	}
	if c.connection, err = a.Connections.Use(r.Context(), hash); err != nil {
		return c, err
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.ContentLength != 0 && media != "" && !strings.HasSuffix(media, "json") {
		return c, fault.Newf(fault.Invalid, "the body must be %s", mediaType)
	}
	c.body, c.Request, err = wire.Body(w, r, maxBody)
	if err != nil {
		return c, err
	}
	c.policy = a.Policy(c.connection)
	return c, nil
}

// object decodes the body, which must be an object.
func (c call) object() (map[string]any, error) {
	if err := wire.CheckJSON(c.body); err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(c.body, &out); err != nil || out == nil {
		return nil, fault.New(fault.Invalid, "the body must be a JSON object")
	}
	return out, nil
}

// fail answers with an error (RFC 7644, section 3.12).
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	a.Errors.Observe(w, r, err)
	status, kind := wire.Status(err), ""
	var f *fault.Error
	errors.As(err, &f)
	switch fault.KindOf(err) {
	case fault.Invalid:
		status, kind = http.StatusBadRequest, "invalidValue"
		switch f.Field {
		case scim.ErrFilter:
			kind = "invalidFilter"
		case scim.ErrPath:
			kind = "invalidPath"
		case scim.ErrNoTarget:
			kind = "noTarget"
		case "op":
			kind = "invalidSyntax"
		}
	case fault.Conflict:
		status, kind = http.StatusConflict, "uniqueness"
	case fault.Stale:
		status = http.StatusPreconditionFailed
	}
	detail := fault.Public(err)
	if fault.KindOf(err) == fault.Internal {
		detail = "internal error"
	}
	refuse(w, status, kind, detail)
}

func refuse(w http.ResponseWriter, status int, kind, detail string) {
	body := map[string]any{"schemas": []string{"urn:ietf:params:scim:api:messages:2.0:Error"},
		"status": strconv.Itoa(status), "detail": detail}
	if kind != "" {
		body["scimType"] = kind
	}
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, content any) {
	if content == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	raw, err := json.Marshal(content)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}
