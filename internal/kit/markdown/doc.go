// Package markdown shows Markdown that people and alerts write as HTML. The author may be hostile.
package markdown
