package irisapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
)

const (
	// healthTimeout is how long the database may take to answer. Load balancers do not wait long.
	healthTimeout = 2 * time.Second
	// maxHealth is how many bytes of the file are read.
	maxHealth = 4096
	healthy   = "GOOD"
)

// Health answers load balancers whether this process can take requests: 200, or 503 if the database does not answer. An
// operator takes the process out of service by removing the file; the answer is then 404.
type Health struct {
	// File is the path of a file whose first line is the text of the answer; "" = the text is always GOOD.
	File string
	// Ping returns an error when the database does not answer.
	Ping func(context.Context) error
}

func (h Health) routes() []routing.Route {
	return []routing.Route{routing.Get("/healthcheck", routing.Public, h.get)}
}

func (h Health) get(w http.ResponseWriter, r *http.Request) error {
	text, err := h.text()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	status := http.StatusOK
	if h.Ping(ctx) != nil {
		status, text = http.StatusServiceUnavailable, "Could not connect to database"
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
	return nil
}

// text returns the first line of the file, as it is now.
func (h Health) text() (string, error) {
	if h.File == "" {
		return healthy, nil
	}
	f, err := os.Open(h.File)
	if errors.Is(err, os.ErrNotExist) {
		return "", fault.New(fault.NotFound, "the file of the health check is not there")
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxHealth)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}
