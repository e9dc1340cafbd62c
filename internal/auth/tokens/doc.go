// Package tokens defines the access tokens of people and programs: their format, the requests that their scopes allow,
// how a command line gets one, and the operations of people on their own. The authentication of the APIs, the routes of
// /v1 and the pages about tokens use it. It does no input or output. The rights of a token's person or team are decided by package auth.
package tokens
