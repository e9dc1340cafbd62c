package postgres

// NoticeFact is a shift as notices.facts keeps it: enough to write a message after the shift was deleted.
type NoticeFact struct {
	TeamID int64  `json:"team_id"`
	Role   string `json:"role"`
	UserID int64  `json:"user_id"`
	Start  int64  `json:"start"`
	End    int64  `json:"end"`
}
