package jinja_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/jinja"
)

// typical is an alert template such as users write.
const typical = `{{ title }}
{% if alerts %}
{%- for a in alerts %}
* {{ a.labels.alertname|upper }} on {{ a.labels.instance.split(':')[0] }} is {{ a.status }}
  {{- " since " ~ a.startsAt[11:16] if a.status == 'firing' }}
  {%- if a.annotations.summary %}: {{ a.annotations.summary|truncate(80) }}{% endif %}
{%- else %}
nothing
{%- endfor %}
{%- endif %}
Runbook: {{ runbook|default('none') }}, {{ alerts|selectattr('status', 'equalto', 'firing')|list|length }} firing
`

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, err := jinja.Compile(typical, jinja.Limits{})
		require.NoError(b, err)
	}
}

func BenchmarkRender(b *testing.B) {
	tpl, err := jinja.Compile(typical, jinja.Limits{})
	require.NoError(b, err)
	v := vars(b, loadGolden(b).Context)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tpl.Render(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeVars(b *testing.B) {
	context := []byte(loadGolden(b).Context)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jinja.DecodeVars(context); err != nil {
			b.Fatal(err)
		}
	}
}
