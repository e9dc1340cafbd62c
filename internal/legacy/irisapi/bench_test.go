package irisapi_test

import (
	"crypto/rand"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
)

// benchmarkPost measures the acceptance of a request without HTTP parsing. With -cpu 64, requests are stored in
// batches.
func benchmarkPost(b *testing.B, path, body string, status int, keyed bool) {
	f := newFixture(b)
	f.exec("update applications set pending_cap = 2000000000")
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := httptest.NewRequest(post, path, strings.NewReader(body))
			r.Header.Set("Authorization", auth.Sign("demo", "demo-key",
				auth.SignedRequest{Method: post, Path: path, Body: []byte(body)}, time.Now()))
			if keyed {
				r.Header.Set(idemKey, rand.Text())
			}
			rec := httptest.NewRecorder()
			f.handler.ServeHTTP(rec, r)
			if rec.Code != status {
				b.Fatalf("%d: %s", rec.Code, rec.Body)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

func BenchmarkNotify(b *testing.B) {
	benchmarkPost(b, "/v0/notifications", `{"role":"user","target":"ann","subject":"s","priority":"high","body":"b"}`,
		200, false)
}

func BenchmarkOpenIncident(b *testing.B) {
	benchmarkPost(b, "/v0/incidents", `{"plan":"pager","context":{"host":"web1","message":"m"}}`, 201, false)
}

func BenchmarkOpenIncidentWithAKey(b *testing.B) {
	benchmarkPost(b, "/v0/incidents", `{"plan":"pager","context":{"host":"web1","message":"m"}}`, 201, true)
}
