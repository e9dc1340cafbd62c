// Package methods looks up the attributes and methods of Python's values, as far as Jinja2's sandbox lets templates
// reach them: a.b and a['b'], and the methods of text, lists, dictionaries and numbers. Packages run and builtins call
// it. Like package py it charges its work to a Budget and raises by panicking with *py.Error.
package methods
