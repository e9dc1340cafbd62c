package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
)

type healthcheckCommand struct {
	URL string `arg:"" help:"Address to ask, such as http://127.0.0.1:16649/readyz."`
}

// healthcheckTimeout is the maximum time for the answer.
const healthcheckTimeout = 5 * time.Second

// Run fails unless the server answers 200. It is for containers, whose image has no HTTP client.
func (c healthcheckCommand) Run(ctx context.Context, e *env) error {
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return remote.Usagef("%w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", c.URL, resp.Status, strings.TrimSpace(string(body)))
	}
	_, err = fmt.Fprintln(e.stdout, "ok")
	return err
}
