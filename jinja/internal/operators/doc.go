// Package operators computes with Python's values: + - * / // % (also for text), ** and abs. Packages run, methods and
// builtins call it. Like package py it charges its work to a Budget and raises by panicking with *py.Error.
package operators
