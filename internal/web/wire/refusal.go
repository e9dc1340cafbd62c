package wire

import "context"

type refusalKey struct{}

// WithRefusal returns a context in which Errors.Write also stores the error of a request in *err. Callers in the
// process use it: they get the fault itself and need not decode the answer.
func WithRefusal(ctx context.Context, err *error) context.Context {
	return context.WithValue(ctx, refusalKey{}, err)
}

func noteRefusal(ctx context.Context, err error) {
	if to, ok := ctx.Value(refusalKey{}).(*error); ok {
		*to = err
	}
}
