// Package openapi describes all routes of iris-api. spec/*.yaml has one line for each operation; this package expands them to
// an OpenAPI 3.1 document, which iris-api serves as /openapi.json and as a page. A test in internal/app compares it with the
// router, and the contract suite (test/contract) compares every answer with it.
//
// A spec file has the keys tags, schemas, parameters and paths. An operation has:
//
//	sum      one sentence (required)
//	access   who may call it: public, open, any, write, self, user, own, admin, team-admin, member, webhook, vendor, session (required)
//	note     more than a sentence, where it is needed
//	query    names of entries under parameters
//	body     the request's body: a schema; prefix "form:" for form encoding, "?" when it may be missing
//	ok       status -> what is answered; default 200 -> empty
//	failure  html or text where errors are that
//	errors   further statuses that answer an error; 401, 403 and 404 follow from access and path
//
// A schema in short form is the name of an entry under schemas, a primitive (string, integer, number, boolean, any),
// "[X]" for a list, "{X}" for an object with free keys, "X|null"; or one of the bodies empty, text, html, calendar, twiml.
package openapi
