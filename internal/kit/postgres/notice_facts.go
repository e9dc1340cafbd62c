package postgres

// NoticeFact is a shift as the column notices.facts has it: enough for the text of a message after the shift is
// deleted.
type NoticeFact struct {
	TeamID int64  `json:"team_id"`
	Role   string `json:"role"`
	UserID int64  `json:"user_id"`
	Start  int64  `json:"start"`
	End    int64  `json:"end"`
}
