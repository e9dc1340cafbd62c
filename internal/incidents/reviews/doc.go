// Package reviews is what people write about an incident when it is over: a text, tags and links to follow-ups. The
// first text is made from the timeline. The pages, /v1 and the command line call its operations; incidents/pg stores
// reviews. It knows no transport.
package reviews
