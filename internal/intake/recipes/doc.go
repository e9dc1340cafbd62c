// Package recipes reads payloads of known senders. A recipe is a YAML file. For each shape of payload it has the patterns
// that recognise it, and template expressions that find the facts of an alert. The built-in recipes are in senders. An
// installation can add a folder of its own. Tests, previews and the documentation use the samples of a recipe. Package
// sources calls a Book to decode deliveries. This package must not know HTTP, mail or storage. A wrong file is an error at
// start; a payload that no recipe reads is no error.
package recipes
