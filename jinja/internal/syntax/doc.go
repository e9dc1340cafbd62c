// Package syntax reads the source of templates: a lexer and a parser that build a tree. Package run compiles the tree.
// Mistakes in the source are *py.Error of the kind TemplateSyntaxError, with the line.
package syntax
