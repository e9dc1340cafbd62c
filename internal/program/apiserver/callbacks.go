// This file verifies and parses requests from vendors: receipts, pressed buttons, and who pressed them. It gives
// functions to package answers, which may not import a vendor.

package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/iris-oncall/iris/internal/answers"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/vendors"
	"github.com/iris-oncall/iris/internal/vendors/slack"
	"github.com/iris-oncall/iris/internal/vendors/twilio"
)

// Callbacks has the functions for the configured vendors. A function of a vendor that is not configured is nil.
type Callbacks struct {
	ValidTwilio   func(fullURL string, form url.Values, header http.Header) bool
	TwilioReceipt func(url.Values) (messages.Receipt, bool)
	SlackPressed  func(header http.Header, body []byte, now time.Time) (answers.Pressed, error)
	ReplySlack    func(ctx context.Context, responseURL, text string) error
	SlackEmail    func(ctx context.Context, userID string) (string, error)
	SlackID       func(ctx context.Context, email string) (string, error)
}

// newCallbacks returns the callbacks of the configured accounts. It calls no vendor.
func newCallbacks(c config.API) (Callbacks, error) {
	out := Callbacks{TwilioReceipt: twilio.ParseReceipt} // for relays, which verify receipts themselves
	var tokens, secrets []string
	for _, t := range c.Twilio {
		if t.AuthToken != "" {
			tokens = append(tokens, t.AuthToken.Reveal())
		}
	}
	var workspaces []*slack.Vendor
	for _, s := range c.Slack {
		if s.SigningSecret != "" {
			secrets = append(secrets, s.SigningSecret.Reveal())
		}
		if s.Token == "" {
			continue
		}
		v, err := slack.New(slack.Config{Account: s.Account.Account, Token: s.Token.Reveal(), APIURL: s.APIURL,
			Timeout: s.Timeout})
		if err != nil {
			return out, fmt.Errorf("slack account %s: %w", s.Account.Account, err)
		}
		workspaces = append(workspaces, v)
	}
	if len(tokens) > 0 {
		out.ValidTwilio = func(fullURL string, form url.Values, header http.Header) bool {
			return twilio.ValidSignature(tokens, fullURL, form, header.Get("X-Twilio-Signature"))
		}
	}
	if len(workspaces) > 0 {
		out.SlackID = slackID(workspaces)
	}
	if len(secrets) > 0 {
		out.SlackPressed = slackPressed(secrets)
		out.ReplySlack = replySlack(vendors.NewClient(vendors.ClientConfig{Timeout: 5 * time.Second, MaxConns: 8}))
		if len(workspaces) > 0 {
			out.SlackEmail = slackEmail(workspaces)
		}
	}
	return out, nil
}

// slackEmail asks every workspace, because the id of a member does not contain the workspace.
func slackEmail(workspaces []*slack.Vendor) func(context.Context, string) (string, error) {
	return func(ctx context.Context, userID string) (string, error) {
		var failures []error
		for _, w := range workspaces {
			email, err := w.EmailOf(ctx, userID)
			if err == nil && email != "" {
				return email, nil
			}
			failures = append(failures, err)
		}
		return "", errors.Join(failures...)
	}
}

// slackID asks the workspaces in turn. It returns a NotFound fault only if every workspace does.
func slackID(workspaces []*slack.Vendor) func(context.Context, string) (string, error) {
	return func(ctx context.Context, email string) (string, error) {
		var unknown, failure error
		for _, w := range workspaces {
			id, err := w.IDOf(ctx, email)
			switch {
			case err == nil:
				return id, nil
			case fault.Is(err, fault.NotFound):
				unknown = err
			default:
				failure = err
			}
		}
		if failure != nil {
			return "", failure
		}
		return "", unknown
	}
}

// slackPressed verifies the signature with any of the secrets, and translates the request for package answers.
func slackPressed(secrets []string) func(http.Header, []byte, time.Time) (answers.Pressed, error) {
	return func(header http.Header, body []byte, now time.Time) (answers.Pressed, error) {
		var err error
		for _, secret := range secrets {
			if err = slack.VerifySignature(secret, header, body, now); err == nil {
				break
			}
		}
		if err != nil {
			return answers.Pressed{}, err
		}
		i, err := slack.ParseInteraction(body)
		if err != nil {
			return answers.Pressed{}, err
		}
		return answers.Pressed{
			MessageID: i.MessageID, Acts: i.Acknowledges(), All: i.All(), UserID: i.UserID, UserName: i.UserName,
			Timestamp: i.Timestamp, ResponseURL: i.ResponseURL,
		}, nil
	}
}

// replySlack posts to a URL that came in a request with a verified signature of Slack.
func replySlack(client *vendors.Client) func(ctx context.Context, responseURL, text string) error {
	return func(ctx context.Context, responseURL, text string) error {
		body, err := json.Marshal(map[string]any{"text": text, "replace_original": false, "response_type": "ephemeral"})
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, responseURL, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 300 {
			return fmt.Errorf("post to Slack's response URL: %s", resp.Status)
		}
		return nil
	}
}
