package iris

import "context"

// derived are tables and columns that are known and not taken, because nothing is lost by it: docs/importing.md says why.
var derived = map[string]string{
	"application_stats": "*", "global_stats": "*", // computed from the imported rows
	"twilio_retry": "*",          // which message was sent again; both messages are taken
	"oncall_team":  "*",          // Oncall's numbers of teams: its own import brings them
	"plan":         "step_count", // counted
	"incident":     "bucket_id",  // computed here
	// Nobody sees the numbers of variables: they have names.
	"template_variable": "id",
}

// leftovers reports tables and columns that the import did not read.
func (im *importer) leftovers(ctx context.Context) error {
	return im.rows.Leftovers(ctx, "Iris", derived)
}
