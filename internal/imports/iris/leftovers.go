package iris

import "context"

// taken are the columns of Iris that are read.
var taken = map[string]string{
	"application":                       "id name key context_template summary_template sample_context mobile_template auth_only allow_other_app_incidents allow_authenticating_users secondary_key",
	"application_custom_sender_address": "application_id mode_id sender_address",
	"application_mode":                  "application_id mode_id",
	"application_owner":                 "application_id user_id",
	"application_quota":                 "application_id hard_quota_threshold soft_quota_threshold hard_quota_duration soft_quota_duration plan_name target_id wait_time",
	"category_override":                 "user_id category_id mode_id",
	"comment":                           "id incident_id created user_id content",
	"default_application_mode":          "application_id priority_id mode_id",
	"device":                            "id registration_id user_id platform",
	"dynamic_plan_map":                  "incident_id dynamic_index role_id target_id",
	"generic_message_sent_status":       "message_id status",
	"incident":                          "id plan_id created updated context owner_id application_id current_step active resolved",
	"incident_emails":                   "email application_id plan_name",
	"mailing_list":                      "target_id count",
	"mailing_list_membership":           "list_id user_id",
	"message":                           "id batch created sent application_id target_id destination mode_id plan_id priority_id subject body incident_id plan_notification_id active template_id",
	"message_changelog":                 "id date message_id change_type old new description",
	"mode":                              "id name",
	"mode_template_override":            "target_id mode_id",
	"notification_category":             "id application_id name description mode_id",
	"plan":                              "id name created user_id team_id description threshold_window threshold_count aggregation_window aggregation_reset tracking_key tracking_type tracking_template",
	"plan_active":                       "name plan_id",
	"plan_notification":                 "id plan_id step template target_id optional role_id priority_id repeat wait dynamic_index",
	"priority":                          "id name mode_id",
	"response":                          "id created message_id content source",
	"target":                            "id name type_id active",
	"target_application_mode":           "target_id application_id priority_id mode_id",
	"target_contact":                    "target_id mode_id destination",
	"target_mode":                       "target_id priority_id mode_id",
	"target_reprioritization":           "target_id src_mode_id dst_mode_id count duration",
	"target_role":                       "id name type_id",
	"target_type":                       "id name",
	"team":                              "target_id manager_id director_id",
	"template":                          "id name created user_id",
	"template_active":                   "name template_id",
	"template_content":                  "template_id application_id mode_id subject body call sms im email_subject email_text email_html",
	"template_variable":                 "id application_id name required title_variable",
	"twilio_delivery_status":            "twilio_sid message_id status",
	"user":                              "target_id admin",
	"user_setting":                      "user_id name value",
	"user_team":                         "user_id team_id",
}

// derived are tables and columns that are known and not taken, because nothing is lost by it: docs/importing.md says why.
var derived = map[string]string{
	"application_stats": "*", "global_stats": "*", // computed from what was taken
	"twilio_retry": "*",          // which message was sent again; both messages are taken
	"oncall_team":  "*",          // Oncall's numbers of teams: its own import brings them
	"plan":         "step_count", // counted
	"incident":     "bucket_id",  // ours are computed
}

// leftovers reports what is in the database and nobody asked for.
func (im *importer) leftovers(ctx context.Context) error {
	return im.rows.Leftovers(ctx, "Iris", taken, derived)
}
