// Package recipes knows how the payloads of senders are read. A recipe is a YAML file: for each shape of a sender's
// payload what it is recognised by, and template expressions for the facts of an alert. The recipes of this program are
// in senders; an installation may have a folder with further ones. Each recipe has samples, which tests, previews and the
// documentation use. The package knows no transport and no storage; package sources applies what it finds.
package recipes
