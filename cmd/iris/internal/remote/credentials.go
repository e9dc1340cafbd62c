package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"

	"github.com/iris-oncall/iris/internal/program/client"
)

// credentials are the tokens of this person, by the address of the server.
type credentials struct {
	Current string            `json:"current"` // the server of the last log-in
	Tokens  map[string]string `json:"tokens"`
}

// file returns the path of the credentials file.
func (e Env) file() (string, error) {
	if path := e.get("IRIS_CREDENTIALS"); path != "" {
		return path, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the credentials file: %w; set IRIS_CREDENTIALS", err)
	}
	return filepath.Join(dir, "iris", "credentials.json"), nil
}

// credentials reads the credentials file. Without a file there are no tokens. It refuses a file that others may read.
func (e Env) credentials() (c credentials, err error) {
	c.Tokens = map[string]string{}
	path, err := e.file()
	if err != nil {
		return c, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return c, fmt.Errorf("other users of this machine may read %s: run chmod 600 on it, and replace its tokens",
			path)
	}
	data, err := io.ReadAll(f)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read %s: %w", path, err)
	}
	if c.Tokens == nil {
		c.Tokens = map[string]string{}
	}
	return c, nil
}

// save replaces the credentials file. A reader sees the old content or the new.
func (e Env) save(c credentials) error {
	path, err := e.file()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".credentials-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Flags name the server of a command.
type Flags struct {
	Server   string `help:"Address of the server; default: IRIS_SERVER, or the server of the last log-in." placeholder:"URL"`
	Insecure bool   `help:"Send the token to another machine without TLS."`
}

// errNoServer is the error of a command without a server.
var errNoServer = errors.New("no server is known: give --server or set IRIS_SERVER")

// address returns the address of the server.
func (s Flags) address(e Env, c credentials) (string, error) {
	for _, server := range []string{s.Server, e.get("IRIS_SERVER"), c.Current} {
		if server != "" {
			return client.Address(server)
		}
	}
	return "", errNoServer
}

// client returns a client with the token of IRIS_TOKEN or of the credentials file.
func (s Flags) client(e Env) (*client.Client, error) {
	var c credentials
	var err error
	token, named := e.get("IRIS_TOKEN"), s.named(e)
	if token != "" && !named { // the token would go to the server of the last log-in, which may be another one
		return nil, errors.New("IRIS_TOKEN is set, but no server: give --server or set IRIS_SERVER")
	}
	if token == "" {
		if c, err = e.credentials(); err != nil {
			return nil, err
		}
	}
	server, err := s.address(e, c)
	if err != nil {
		return nil, err
	}
	if token == "" {
		if token = c.Tokens[server]; token == "" {
			return nil, fmt.Errorf("there is no token for %s: run iris login, or set IRIS_TOKEN", server)
		}
	}
	return client.New(client.Config{URL: server, Token: token, Insecure: s.Insecure})
}

// named reports whether the command line or the environment names a server.
func (s Flags) named(e Env) bool { return s.Server != "" || e.get("IRIS_SERVER") != "" }

// API returns a client like client. If no server is named and there is no IRIS_TOKEN, but a database is configured, the
// requests are answered in this process, as the operator.
func (s Flags) API(ctx context.Context, e Env) (*client.Client, error) {
	if s.named(e) || e.get("IRIS_TOKEN") != "" || e.Local == nil {
		return s.client(e)
	}
	here, err := e.Local(ctx)
	if err != nil {
		return nil, err
	}
	if here != nil {
		return client.New(client.Config{URL: "http://localhost", HTTP: &http.Client{Transport: here}})
	}
	api, err := s.client(e)
	if errors.Is(err, errNoServer) {
		err = errors.New("no server is known: log in with iris login --server URL, set IRIS_SERVER and IRIS_TOKEN, or set IRIS_DATABASE_URL where the database is")
	}
	return api, err
}
