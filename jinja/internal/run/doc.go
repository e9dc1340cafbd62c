// Package run compiles the tree of a template to closures and renders it. Only package jinja calls it: jinja bounds the
// source, recovers panics and offers the API. It knows no package of Iris. It fails by
// panicking with *py.Error.
package run
