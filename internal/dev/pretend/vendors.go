package pretend

import "fmt"

// Config of a set of pretend vendors with one log.
type Config struct {
	SMTP    SMTPConfig
	Slack   SlackConfig
	Twilio  TwilioConfig
	Webhook WebhookConfig
	Push    PushConfig
	// Keep is how many entries the log holds; 0 = all.
	Keep int
}

// Vendors is one vendor of each kind, with one log.
type Vendors struct {
	SMTP    *SMTP
	Slack   *Slack
	Twilio  *Twilio
	Webhook *Webhook
	Push    *Push
	log     *Log
}

// New returns vendors that are not started.
func New(cfg Config) *Vendors {
	log := NewLog(cfg.Keep)
	return &Vendors{
		SMTP: NewSMTP(cfg.SMTP, log), Slack: NewSlack(cfg.Slack, log), Twilio: NewTwilio(cfg.Twilio, log),
		Webhook: NewWebhook(cfg.Webhook, log), Push: NewPush(cfg.Push, log), log: log,
	}
}

// server is a pretend vendor.
type server interface {
	Start() error
	Close()
}

func (v *Vendors) all() []server { return []server{v.SMTP, v.Slack, v.Twilio, v.Webhook, v.Push} }

// Start starts all of them, or none.
func (v *Vendors) Start() error {
	for _, s := range v.all() {
		if err := s.Start(); err != nil {
			v.Close()
			return fmt.Errorf("start pretend vendors: %w", err)
		}
	}
	return nil
}

// Close stops all of them.
func (v *Vendors) Close() {
	for _, s := range v.all() {
		s.Close()
	}
}

// Log holds what all of them received.
func (v *Vendors) Log() *Log { return v.log }
