// Package jinja renders Jinja2 templates. It implements Jinja2 3.1 with the defaults of its SandboxedEnvironment,
// except for trans, do and the tags that read other templates (include, import, from, extends, block). The output
// equals that of the original, byte for byte. Errors have the classes and lines of the original, but other texts. See
// README.md.
//
// Users write templates, so a template must not be able to harm the process. Every rendering has a budget of work,
// memory, nesting, time and output (see package py). A template has no access to files, the network or the process. The
// package imports nothing else of the project.
package jinja
