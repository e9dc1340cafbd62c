package oncallapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// maxPaid is the maximum length of the list of paid roles, in bytes.
const maxPaid = 8 << 20

// PaidRoles returns a function that fetches the list of paid roles from url; nil if url is "". What cannot be
// fetched is an Unavailable fault; a url that cannot be parsed is another error.
func PaidRoles(url string) func(ctx context.Context) (json.RawMessage, error) {
	if url == "" {
		return nil
	}
	client := &http.Client{Timeout: 10 * time.Second}
	return func(ctx context.Context) (json.RawMessage, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, fmt.Errorf("bonus list: %w", err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the bonus list cannot be fetched")
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fault.Newf(fault.Unavailable, "the bonus list was answered with status %d", resp.StatusCode)
		}
		raw, err := io.ReadAll(io.LimitReader(resp.Body, maxPaid+1))
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the bonus list broke off")
		}
		if len(raw) > maxPaid {
			return nil, fault.Newf(fault.Unavailable, "the bonus list is longer than %d bytes", maxPaid)
		}
		return raw, nil
	}
}
