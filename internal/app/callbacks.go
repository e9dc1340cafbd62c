package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/responses"
	"github.com/iris-oncall/iris/internal/vendors"
	"github.com/iris-oncall/iris/internal/vendors/slack"
	"github.com/iris-oncall/iris/internal/vendors/twilio"
)

// callbacks is what the vendor packages know about requests that come from their vendors. What is not configured is nil.
type callbacks struct {
	validTwilio   func(fullURL string, form url.Values, header http.Header) bool
	twilioReceipt func(url.Values) (messages.Receipt, bool)
	slackPressed  func(header http.Header, body []byte, now time.Time) (responses.Pressed, error)
	replySlack    func(ctx context.Context, responseURL, text string) error
}

func newCallbacks(c config.API) callbacks {
	var out callbacks
	var tokens, secrets []string
	for _, t := range c.Twilio {
		if t.AuthToken != "" {
			tokens = append(tokens, t.AuthToken.Reveal())
		}
	}
	for _, s := range c.Slack {
		if s.SigningSecret != "" {
			secrets = append(secrets, s.SigningSecret.Reveal())
		}
	}
	if len(tokens) > 0 {
		out.validTwilio = func(fullURL string, form url.Values, header http.Header) bool {
			return twilio.ValidSignature(tokens, fullURL, form, header.Get("X-Twilio-Signature"))
		}
		out.twilioReceipt = twilio.ParseReceipt
	}
	if len(secrets) > 0 {
		out.slackPressed = slackPressed(secrets)
		out.replySlack = replySlack(vendors.NewClient(vendors.ClientConfig{Timeout: 5 * time.Second, MaxConns: 8}))
	}
	return out
}

// slackPressed verifies with any of the secrets and translates to the words of responses.
func slackPressed(secrets []string) func(http.Header, []byte, time.Time) (responses.Pressed, error) {
	return func(header http.Header, body []byte, now time.Time) (responses.Pressed, error) {
		var err error
		for _, secret := range secrets {
			if err = slack.VerifySignature(secret, header, body, now); err == nil {
				break
			}
		}
		if err != nil {
			return responses.Pressed{}, err
		}
		i, err := slack.ParseInteraction(body)
		if err != nil {
			return responses.Pressed{}, err
		}
		return responses.Pressed{
			MessageID: i.MessageID, Acts: i.Acknowledges(), All: i.All(), UserID: i.UserID, UserName: i.UserName,
			ResponseURL: i.ResponseURL,
		}, nil
	}
}

// replySlack posts to an address that came with a verified signature of Slack.
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
			return fmt.Errorf("answer of Slack: %s", resp.Status)
		}
		return nil
	}
}
