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

	"github.com/iris-oncall/iris/internal/fault"
)

const (
	// healthTimeout is how long the database may take to show that it is there; load balancers do not wait long.
	healthTimeout = 2 * time.Second
	// maxHealth bounds the line that is read of the file.
	maxHealth = 4096
	healthy   = "GOOD"
)

// healthcheck tells load balancers whether this process can take requests. Taking the configured file away takes the process
// out of service.
func (a *API) healthcheck(w http.ResponseWriter, r *http.Request) error {
	text, err := a.healthText()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	status := http.StatusOK
	if a.Ping(ctx) != nil {
		status, text = http.StatusServiceUnavailable, "Could not connect to database"
	}
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
	return nil
}

// healthText is the first line of the file, as it is now.
func (a *API) healthText() (string, error) {
	if a.Config.HealthcheckFile == "" {
		return healthy, nil
	}
	f, err := os.Open(a.Config.HealthcheckFile)
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
