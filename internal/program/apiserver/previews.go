package apiserver

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/program/server"
)

// Preview returns the handler of /v1 that renders drafts of templates. address is the public address of Iris.
func Preview(s *server.Stores, address string) func(http.ResponseWriter, *http.Request) error {
	return pages.Handler(pages.PreviewDeps{Applications: s.Applications, Facts: s.QueueLoader, Address: address})
}
