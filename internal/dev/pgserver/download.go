package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// The version that is downloaded if no PostgreSQL is installed.
const (
	downloadVersion = embeddedpostgres.V17
	downloadMajor   = 17
)

// downloaded returns the downloaded binaries, and downloads them if needed. The caller holds the setup lock.
func (s *setup) downloaded(ctx context.Context) (binaries, error) {
	dir := filepath.Join(s.root, "bin-"+string(downloadVersion))
	if b, err := inspect(ctx, filepath.Join(dir, "bin")); err == nil {
		return b, nil
	}
	start := time.Now()
	s.cfg.Progress("downloading PostgreSQL " + strings.TrimSuffix(string(downloadVersion), ".0"))
	work := dir + ".new"
	if err := os.RemoveAll(work); err != nil {
		return binaries{}, err
	}
	defer os.RemoveAll(work)
	if err := s.fetch(ctx, work); err != nil {
		return binaries{}, fmt.Errorf("download PostgreSQL: %w (install PostgreSQL %d or newer, or set IRIS_DATABASE_URL, "+
			"or set a mirror in IRIS_POSTGRES_REPOSITORY)", err, oldest)
	}
	if err := openTree(filepath.Join(work, "unpacked")); err != nil {
		return binaries{}, err
	}
	b, err := inspect(ctx, filepath.Join(work, "unpacked", "bin"))
	if err != nil {
		return b, fmt.Errorf("the downloaded PostgreSQL does not run here: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return b, err
	}
	if err := os.Rename(filepath.Join(work, "unpacked"), dir); err != nil {
		return b, err
	}
	s.cfg.Progress(fmt.Sprintf("PostgreSQL %s is ready (%.1f s)", b.version, time.Since(start).Seconds()))
	b.dir = filepath.Join(dir, "bin")
	return b, nil
}

// fetch downloads, checks and unpacks the binaries into work/unpacked.
//
// The library can only do it as a part of starting a server in its own way, which does not work for root or for a
// process that may be killed (docs/adr/0006). A data directory with only a version number makes it stop after
// unpacking: it skips initdb, and its start of the server fails. It has no context and reports no progress, so it
// downloads through a local proxy that has both.
func (s *setup) fetch(ctx context.Context, work string) error {
	data := filepath.Join(work, "no-data")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(strconv.Itoa(downloadMajor)+"\n"), 0o644); err != nil {
		return err
	}
	proxy, err := s.repositoryProxy(ctx)
	if err != nil {
		return err
	}
	defer proxy.Close()
	port, err := freePort()
	if err != nil {
		return err
	}
	library := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(downloadVersion).Port(uint32(port)).BinaryRepositoryURL(proxy.url).
		CachePath(filepath.Join(work, "archive")).RuntimePath(filepath.Join(work, "runtime")).
		BinariesPath(filepath.Join(work, "unpacked")).DataPath(data).Logger(io.Discard))
	unpacked := make(chan error, 1)
	go func() { unpacked <- library.Start() }()
	select {
	case err = <-unpacked:
	case <-ctx.Done():
		proxy.Close() // breaks the download off
		<-unpacked
		return context.Cause(ctx)
	}
	if err == nil { // unexpected: there is no data to start with
		return errors.Join(errors.New("the library started a server without data"), library.Stop())
	}
	if strings.HasPrefix(err.Error(), "could not start postgres using") {
		return nil
	}
	if cause := proxy.failure.Load(); cause != nil {
		return *cause
	}
	return err
}

// repositoryProxy is an HTTP server on the loopback interface that forwards requests to the repository.
type repositoryProxy struct {
	*http.Server
	url     string
	failure atomic.Pointer[error] // why a request to the repository failed
}

func (s *setup) repositoryProxy(ctx context.Context) (*repositoryProxy, error) {
	target, err := url.Parse(s.cfg.Repository)
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("repository %q is not a URL", s.cfg.Repository)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &repositoryProxy{url: "http://" + listener.Addr().String()}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 30 * time.Second
	handler := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
		},
		Transport: transport,
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode != http.StatusOK {
				err := fmt.Errorf("%s answered %s", r.Request.URL, r.Status)
				p.failure.CompareAndSwap(nil, &err)
			} else if r.ContentLength > 1<<20 {
				r.Body = &counted{ReadCloser: r.Body, total: r.ContentLength, last: time.Now(), report: s.cfg.Progress}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			p.failure.CompareAndSwap(nil, &err)
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	p.Server = &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = p.Serve(listener) }() // ends with Close
	return p, nil
}

// counted reports every half second how much of a body has been read.
type counted struct {
	io.ReadCloser
	total, got int64
	last       time.Time
	report     func(string)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.got += int64(n)
	if time.Since(c.last) > 500*time.Millisecond || c.got == c.total && n > 0 {
		c.last = time.Now()
		c.report(fmt.Sprintf("downloaded %.1f of %.1f MB", float64(c.got)/1e6, float64(c.total)/1e6))
	}
	return n, err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
