package smtp_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/smtp"
)

// BenchmarkSend sends messages to a server in the same process. Client and server share the processors.
func BenchmarkSend(b *testing.B) {
	p := pretend.NewSMTP(pretend.SMTPConfig{Light: true}, pretend.NewLog(1000))
	require.NoError(b, p.Start())
	defer p.Close()
	v, err := smtp.New(smtp.Config{Addr: p.Addr(), From: "Iris <iris@example.com>"})
	require.NoError(b, err)
	defer v.Close()
	var id atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := v.Send(context.Background(), messages.Outbound{
				MessageID: messages.ID(id.Add(1)), Attempt: 1, Mode: users.Email, Destination: "ann@example.com", Subject: "4711 Disk full on db1",
				Body: "The disk of db1 is at 99 %.\nhttps://iris.example/ack/abc\n", EmailHTML: "<p>The disk of db1 is at 99 %.</p>",
				Application: "demo", Plan: "demo-plan", Priority: users.High, IncidentID: 17, ThreadKey: "17/ann", IdempotencyKey: "4711-1",
			})
			if r.Outcome != messages.OutcomeSent {
				b.Fatal(r.Detail)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "mails/s")
}
