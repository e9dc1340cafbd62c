// Package openapi describes all routes of iris-api. spec/*.yaml has one entry for each operation; this package expands
// them to an OpenAPI 3.1 document, which iris-api serves as /openapi.json and as a page. A test in
// internal/program/apiserver compares it with the router, and the contract suite (test/contract) compares every answer
// with it.
//
// A spec file has the keys tags, schemas, parameters and paths. An operation has:
//
//	tag         name of an entry under tags (required)
//	sum         one sentence (required)
//	access      the access rule: a key of accesses, such as public, any or write (required)
//	note        further sentences
//	query       names of entries under parameters
//	body        the body of the request: a schema; prefix "form:" for form encoding, "?" if it may be missing
//	ok          the body of the answer for each status; default 200: empty
//	failure     html or text: the format of errors, if it is not JSON
//	errors      statuses of errors besides those that follow from access, path and body (refusals)
//	deprecated  true: the operation works, and note names the newer form
//
// A schema in short form is the name of an entry under schemas, a primitive (string, integer, number, boolean, object,
// null, any), flag (0 or 1), time (Unix seconds), "[X]" for an array, "<X>" for a list of /v1 that is never long
// ({items: "[X]", next: "null"}), "{X}" for an object with free keys, or alternatives such as "X|null". Bodies may also
// be text, html, calendar, twiml, jsonl, csv, markdown or bytes; the body of an answer may be empty.
package openapi
