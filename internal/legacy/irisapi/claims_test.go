package irisapi

import (
	"testing"

	"github.com/iris-oncall/iris/internal/legacy/irisapi/v0test"
)

func FuzzClaimBody(f *testing.F) {
	f.Add([]byte(`{"owner":"ann","incident_ids":[1,"2",3.0,true]}`))
	f.Add([]byte(`{"owner":null,"incident_ids":[],"resolved":{"a":1},"active":1e3}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := ParseBody(raw, "")
		v0test.Mistake(t, err)
		if err != nil {
			return
		}
		_, err = parseClaim(b, "missing")
		v0test.Mistake(t, err)
		_, err = incidentIDs(b, "missing")
		v0test.Mistake(t, err)
		Truthy(b.Members["resolved"])
	})
}
