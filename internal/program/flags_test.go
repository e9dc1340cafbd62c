package program

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/program/server"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args           []string
		file           string
		code           int
		done           bool
		out, complaint string
	}{
		"nothing":    {file: "/from/environment"},
		"file":       {args: []string{"--config", "x.yaml"}, file: "x.yaml"},
		"help":       {args: []string{"--help"}, done: true, out: "Usage: iris-api [--config FILE]"},
		"short help": {args: []string{"-h"}, done: true, out: "Serves pages."},
		"version":    {args: []string{"--version"}, done: true, out: "iris-api " + server.Version()},
		"unknown flag": {args: []string{"--port", "1"}, code: 2, done: true,
			complaint: "iris-api: flag provided but not defined: -port (see: iris-api --help)\n"},
		"argument": {args: []string{"serve"}, code: 2, done: true,
			complaint: "iris-api: unexpected argument \"serve\" (see: iris-api --help)\n"},
		"missing value": {args: []string{"--config"}, code: 2, done: true,
			complaint: "iris-api: flag needs an argument: -config (see: iris-api --help)\n"},
		"both": {args: []string{"--config", "x.yaml", "--help"}, done: true, out: "IRIS_DATABASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			environ := func(string) string { return "/from/environment" }
			file, code, done := flags("iris-api", "Serves pages.", test.args, environ, &out, &errs)
			require.Equal(t, []any{test.file, test.code, test.done}, []any{file, code, done})
			require.Equal(t, test.complaint, errs.String())
			require.Contains(t, out.String(), test.out)
			require.Equal(t, test.out == "", out.Len() == 0)
		})
	}
}
