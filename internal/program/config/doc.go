// Package config reads the configuration of the two servers and of the commands: one YAML file, environment variables
// that override it, and key_file or ..._FILE variants for secrets. An unknown key is an error. Each problem names the
// key, where it is set, and what to do; all problems are reported together.
//
// It defines plain structs. Package apiserver and package processor translate them for the other packages.
package config
