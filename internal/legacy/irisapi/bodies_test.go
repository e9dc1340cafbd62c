package irisapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/irisapi/v0test"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func FuzzPlanBody(f *testing.F) {
	f.Add([]byte(`{"name":"n","creator":"a","description":"d","threshold_window":1,"threshold_count":1,"aggregation_window":1,
		"aggregation_reset":1,"steps":[[{"priority":"low","template":"t","wait":1,"repeat":0,"role":"user","target":"x"}]],
		"tracking_type":"email","tracking_key":"a@b","tracking_template":{"app":{"email_subject":"s","email_text":"t"}}}`))
	f.Add([]byte(`{"name":1,"steps":[[[]]]}`))
	f.Add([]byte(`{"name":"n","creator":"a","description":"","threshold_window":"1","threshold_count":1e2,"aggregation_window":true,
		"aggregation_reset":0,"steps":[[{"template":"t","wait":1,"repeat":9,"dynamic_index":3}],[]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := ParseBody(raw, catalog.InvalidPlan)
		v0test.Mistake(t, err)
		if err != nil {
			return
		}
		p, err := parsePlan(b)
		v0test.Mistake(t, err)
		if err != nil {
			return
		}
		require.False(t, Digits(p.name))
		v0test.Mistake(t, catalog.CheckShape(p.Steps, 24*time.Hour))
		if p.tracking != nil {
			_, err := p.tracking.Check(func(string) error { return nil })
			v0test.Mistake(t, err)
		}
	})
}

func FuzzTemplateContent(f *testing.F) {
	f.Add([]byte(`{"demo":{"email":{"subject":"s","body":"b","email_html":null}},"Demo":{}}`))
	f.Add([]byte(`{"demo":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		words, err := parseContent(raw)
		v0test.Mistake(t, err)
		for _, w := range words {
			require.True(t, wire.Storable(w.Subject+w.Body+w.EmailHTML+w.Application))
		}
	})
}

func FuzzActiveField(f *testing.F) {
	f.Add([]byte(`{"active":1e3}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := ParseBody(raw, "")
		v0test.Mistake(t, err)
		if err != nil {
			return
		}
		_, err = activeField(b, "missing", fault.New(fault.Invalid, "invalid"))
		v0test.Mistake(t, err)
	})
}
