package push

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// answered is Firebase's answer to accepted and refused messages.
type answered struct {
	Name  string `json:"name"`
	Error struct {
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []struct {
			ErrorCode       string `json:"errorCode"`
			FieldViolations []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		} `json:"details"`
	} `json:"error"`
}

// code is Firebase's own code, else Google's general one.
func (a answered) code() string {
	for _, d := range a.Error.Details {
		if d.ErrorCode != "" {
			return d.ErrorCode
		}
	}
	return a.Error.Status
}

// badToken reports whether the registration token is malformed, and not the rest of the message.
func (a answered) badToken() bool {
	for _, d := range a.Error.Details {
		for _, f := range d.FieldViolations {
			if f.Field == "message.token" {
				return true
			}
		}
	}
	return strings.Contains(a.Error.Message, "registration token")
}

// answer maps Firebase's answer for one device.
func answer(resp *http.Response, secrets []string) messages.Result {
	var a answered
	body, readErr := io.ReadAll(resp.Body)
	parseErr := json.Unmarshal(body, &a)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		if readErr != nil || parseErr != nil || a.Name == "" {
			return vendors.Unknown("status %d without a readable answer", resp.StatusCode)
		}
		return messages.Result{Outcome: messages.OutcomeSent, Detail: "taken", VendorMessageID: vendors.Token(a.Name)}
	}
	said := http.StatusText(resp.StatusCode)
	if parseErr == nil && a.Error.Message != "" {
		said = strings.TrimSpace(a.code() + ": " + a.Error.Message)
	}
	said = vendors.Clean(said, secrets...)
	code := a.code()
	switch {
	case resp.StatusCode == http.StatusNotFound, code == "UNREGISTERED":
		return vendors.Gone("the device is not registered any more: %s", said)
	case resp.StatusCode == http.StatusBadRequest && a.badToken():
		return vendors.Gone("the registration token is malformed: %s", said)
	case resp.StatusCode == http.StatusUnauthorized && code != "THIRD_PARTY_AUTH_ERROR":
		// The access token was refused; the next attempt fetches a new one.
		return vendors.AccountFailed(vendors.Unavailable("status 401: %s", said))
	case slices.Contains([]string{"QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"}, code):
		resp.StatusCode = http.StatusTooManyRequests
	}
	return vendors.FromStatus(resp, said)
}
