package auth

// Answer is what was answered to a request that carried an Idempotency-Key, kept so that the same request sent again
// gets the same answer instead of acting twice.
type Answer struct {
	Status   int
	Location string
	Body     []byte
}

// ReplayKey identifies a request that must act once: its key counts per application and route.
type ReplayKey struct {
	ApplicationID int64
	Route         string
	Key           string
	BodyHash      []byte // of what was sent
}
