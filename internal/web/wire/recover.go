package wire

import (
	"errors"
	"fmt"
	"net/http"

	"go.uber.org/zap"
)

// Recover returns a handler that logs panics of next with their stack and answers with an internal error. It does not
// recover from http.ErrAbortHandler, with which a handler aborts its answer on purpose.
func (e *Errors) Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			e.log.Error("request panicked", zap.String("method", r.Method), zap.String("path", LogPath(r)),
				zap.Any("panic", p), zap.Stack("stack"))
			e.Write(w, r, fmt.Errorf("panic: %v", p))
		}()
		next.ServeHTTP(w, r)
	})
}
