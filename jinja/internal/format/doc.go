// Package format turns Python's values into text: format specifications, the % operator, JSON and pprint. Packages
// methods and builtins call it. Like package py it charges its work to a Budget and raises by panicking with *py.Error.
package format
