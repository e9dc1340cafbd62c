package operation

// Answer is the stored answer to a request with an Idempotency-Key. The same request, sent again, gets this answer and
// changes nothing.
type Answer struct {
	Status   int
	Location string
	Body     []byte
}

// ReplayKey identifies a request that must act once. A key is unique for an application and route.
type ReplayKey struct {
	ApplicationID int64
	Route         string
	Key           string
	BodyHash      []byte // hash of the request body
}
