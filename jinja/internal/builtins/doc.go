// Package builtins holds the filters and tests of templates: {{ x|upper }}, {{ x is odd }}. Package run calls them by
// name. A filter charges its work to the budget and raises by panicking with *py.Error.
package builtins
