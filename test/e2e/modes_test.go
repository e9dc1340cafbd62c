package e2e

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// One of four processors has no settings of mail. Its buckets' mails are sent by the others, it is named, and no page
// fails.
func TestAProcessorWithoutAVendorFailsNoPage(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 4, each: func(i int, _ []string) []string {
		if i == 3 {
			return []string{"IRIS_SMTP_ADDR=", "IRIS_SMTP_FROM="}
		}
		return nil
	}})
	s.alarm()
	s.plan("both", []notification{notify("user", "ann", "low", 3600), notify("user", "bob", "low", 3600)})
	s.allOwned(15*time.Second, 4)
	ids := s.burst("both", 40, nil)
	s.eventually(30*time.Second, "80 mails", func() bool {
		n := 0
		for _, e := range s.vendors.Log().Accepted() {
			if e.Mode == "email" {
				n++
			}
		}
		return n == 80
	})
	s.settled(30 * time.Second)
	require.Zero(t, s.count("select count(*) from messages where state = 'failed'"))
	require.Zero(t, s.count("select count(*) from timeline_entries where text like '%is configured%'"))
	bad := "(select process_id from members where not 'email' = any (modes))"
	require.Equal(t, 64, s.count("select count(*) from bucket_leases where owner in "+bad))
	require.NotZero(t, s.count("select count(*) from messages m join bucket_leases l using (bucket) where l.owner in "+
		bad), "the burst met its buckets")
	require.Zero(t, s.count("select count(*) from attempts where process_id in "+bad))

	resp, err := http.Get(s.apiURL + "/readyz/paging")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Contains(t, string(body), "has no vendor for email")
	s.check(ids)
}
