package program

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/iris-oncall/iris/internal/program/apiserver"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/program/server"
)

// Local connects to the configured database and returns a transport that answers requests to /v1 in this process, as
// the operator. The caller must call end when it is done.
func Local(ctx context.Context, c *config.Config) (api http.RoundTripper, end func(), err error) {
	cfg, err := c.API()
	if err != nil {
		return nil, nil, err
	}
	log, err := server.NewLogger(config.Log{Level: "error", Format: "console"})
	if err != nil {
		return nil, nil, err
	}
	db, in, err := database.Connect(ctx, cfg.Common)
	if err != nil {
		return nil, nil, err
	}
	handler, err := apiserver.Local(cfg, db, in, log)
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return inProcess{handler}, db.Close, nil
}

// inProcess answers requests by a handler.
type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &answer{status: http.StatusOK, header: http.Header{}}
	p.handler.ServeHTTP(w, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

// answer keeps the answer of a handler.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *answer) WriteHeader(status int)      { a.status = status }
