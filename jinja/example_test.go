package jinja_test

import (
	"fmt"

	"github.com/iris-oncall/iris/jinja"
)

func ExampleCompile() {
	t, err := jinja.Compile("{{ title|upper }}: {{ hosts|join(', ') }}", jinja.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	vars, err := jinja.DecodeVars([]byte(`{"title": "disk full", "hosts": ["db-1", "db-2"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := t.Render(vars)
	fmt.Println(text, err)
	// Output: DISK FULL: db-1, db-2 <nil>
}

func ExampleError() {
	_, err := jinja.Compile("{{ title }}\n{{ title|uper }}", jinja.Limits{})
	fmt.Println(err)
	// Output: TemplateAssertionError: no filter named 'uper': did you mean 'upper'? (line 2)
}
