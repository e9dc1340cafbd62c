// Package py holds Python's values and operations as far as a Jinja2 template can see them: numbers, strings, lists,
// dictionaries, their methods, how they print, compare, format and fail. Results and error messages are those of
// Python 3.11.
//
// Every operation that can cost time or memory takes a Budget and pays before it acts, so a template can ask for
// anything and get an error instead of a dead process. Operations fail by panicking with *Error, as Python raises
// exceptions; package jinja recovers at the border. Nothing here is safe for concurrent use by two renderings of the
// same values.
package py
