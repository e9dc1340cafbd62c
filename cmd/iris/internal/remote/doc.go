// Package remote connects the commands of iris to a server. It finds the address of the server and the credentials, logs
// in and out, manages tokens, and defines usage errors and exit codes. Without a server and with a configured database,
// requests are answered in this process. All of cmd/iris uses it. It knows no object of /v1 except tokens. A refusal of
// the server is a client.Error.
package remote
