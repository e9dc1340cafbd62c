package vendoraccounts

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/vendors/smtp"
)

// The certificate of a private authority is trusted only if ca_file names the authority.
func TestSMTPTrustsItsCAFile(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(nil)
	defer authority.Close()
	server := pretend.NewSMTP(pretend.SMTPConfig{TLS: &tls.Config{Certificates: authority.TLS.Certificates,
		MinVersion: tls.VersionTLS12}}, nil)
	require.NoError(t, server.Start())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw}), 0o600))
	for name, want := range map[string]messages.Outcome{"": messages.OutcomeUnavailable, file: messages.OutcomeSent} {
		cfg, err := smtpConfig(config.SMTP{Addr: server.Addr(), From: "iris@example.com", TLS: "starttls",
			CAFile: name}, 0, nil)
		require.NoError(t, err)
		v, err := smtp.New(cfg)
		require.NoError(t, err)
		r := v.Send(t.Context(), messages.Outbound{MessageID: 1, Destination: "ana@example.com", Body: "b"})
		require.Equal(t, want, r.Outcome, r.Detail)
		v.Close()
	}
	_, err := smtpConfig(config.SMTP{CAFile: "/nowhere"}, 0, nil)
	require.ErrorContains(t, err, "ca_file")
}
