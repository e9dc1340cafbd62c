// Package pages serves the list of silences and maintenance windows, the page of one with the incidents that it hides,
// and the form that adds or changes one. The pages call the operations, which check what the reader may do.
package pages
