// Package py holds Python's values and operations as far as a Jinja2 template can see them: numbers, text, lists and
// dictionaries, and how they print, compare, compute and raise exceptions. Results equal those of Python 3.11; error
// messages differ. Methods of the values are in package methods, formatting is in package format.
//
// Every operation that can cost time or memory takes a Budget and charges it before the work. A template that asks for
// too much gets an error, and the process survives. Operations fail by panicking with *Error, as Python raises
// exceptions; package jinja recovers the panic. Nothing here is safe for concurrent use by two renderings of the
// same values.
package py
