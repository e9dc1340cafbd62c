package iris

import "context"

// derived are tables and columns that are not imported because they hold no further information: see docs/importing.md.
var derived = map[string]string{
	"application_stats": "*", "global_stats": "*", // computed from the imported rows
	"twilio_retry": "*",          // which message was sent again; both messages are imported
	"oncall_team":  "*",          // Oncall's numbers of teams: the import of Oncall has them
	"plan":         "step_count", // computed here
	"incident":     "bucket_id",  // computed here
	// Numbers of variables are not visible outside: variables have names.
	"template_variable": "id",
}

// leftovers reports tables and columns that the import did not read.
func (im *importer) leftovers(ctx context.Context) error {
	return im.rows.Leftovers(ctx, "Iris", derived)
}
