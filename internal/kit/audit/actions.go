package audit

import "slices"

// Action names what was done. The list is closed: the storage refuses an entry with another action.
type Action string

// actions are all actions, in the order of this file.
var actions []Action

func action(name string) Action {
	actions = append(actions, Action(name))
	return Action(name)
}

// Actions returns all actions.
func Actions() []Action { return slices.Clone(actions) }

// Known reports whether the action is in the list.
func (a Action) Known() bool { return slices.Contains(actions, a) }

// Log-ins and sessions.
var (
	LoggedIn      = action("logged in")
	LoggedOut     = action("logged out")
	LogInRefused  = action("log-in refused")
	SessionEnded  = action("session ended")
	SessionsEnded = action("sessions ended")
)

// Tokens and keys.
var (
	TokenCreated           = action("token created")
	TokenRevoked           = action("token revoked")
	ServiceTokenCreated    = action("service token created")
	ServiceTokenRevoked    = action("service token revoked")
	CalendarFeedKeyCreated = action("calendar feed key created")
	CalendarFeedKeyDeleted = action("calendar feed key deleted")
)

// Accounts.
var (
	UserCreated           = action("user created")
	UserChanged           = action("user changed")
	UserDeleted           = action("user deleted")
	UserSwitchedOn        = action("user switched on")
	UserSwitchedOff       = action("user switched off")
	RoleChanged           = action("role changed")
	PasswordSet           = action("password set")
	PasswordRemoved       = action("password removed")
	PasswordReset         = action("password reset")
	PasswordLinkSent      = action("password link sent")
	SecondFactorSet       = action("second factor set")
	SecondFactorRemoved   = action("second factor removed")
	RecoveryCodesReplaced = action("recovery codes replaced")
	InvitationAdded       = action("invitation added")
	InvitationSentAgain   = action("invitation sent again")
	InvitationRevoked     = action("invitation revoked")
	InvitationAccepted    = action("invitation accepted")
	AccountLinked         = action("account linked")
	AccountUnlinked       = action("account unlinked")
)

// Settings of people.
var (
	ContactSet              = action("contact set")
	ContactVerified         = action("contact verified")
	ModesSet                = action("modes set")
	TimesSet                = action("time zone and clock set")
	TestMessageSent         = action("test message sent")
	FixedTextSwitchedOn     = action("fixed text switched on")
	FixedTextSwitchedOff    = action("fixed text switched off")
	NotificationRulesSet    = action("notification rules set")
	QuietTimeLimitsSet      = action("quiet-time limits set")
	ReprioritisationSet     = action("reprioritisation set")
	ReprioritisationRemoved = action("reprioritisation removed")
	CategoriesSet           = action("categories set")
	CategoriesCleared       = action("categories cleared")
	DeviceRegistered        = action("device registered")
	DeviceSwitchedOff       = action("device switched off")
	RemindersSet            = action("reminders set")
	TeamPinned              = action("team pinned")
	TeamUnpinned            = action("team unpinned")
)

// Teams.
var (
	TeamAdded               = action("team added")
	TeamMemberAdded         = action("team member added")
	TeamMemberRemoved       = action("team member removed")
	RosterOrderChanged      = action("roster order changed")
	TeamSubscribed          = action("team subscribed")
	TeamUnsubscribed        = action("team unsubscribed")
	ServiceAddedToATeam     = action("service added to a team")
	ServiceRemovedFromATeam = action("service removed from a team")
	MailingListAdded        = action("mailing list added")
	MailingListChanged      = action("mailing list changed")
	MailingListSwitchedOn   = action("mailing list switched on")
	MailingListSwitchedOff  = action("mailing list switched off")
)

// Roles and services.
var (
	OnCallRoleCreated = action("on-call role created")
	OnCallRoleDeleted = action("on-call role deleted")
	ServiceSaved      = action("service saved")
	ServiceDeleted    = action("service deleted")
)

// Plans and templates.
var (
	PlanSaved                = action("plan saved")
	PlanVersionActivated     = action("plan version activated")
	PlanSwitchedOff          = action("plan switched off")
	PlanDeleted              = action("plan deleted")
	PlanGivenToATeam         = action("plan given to a team")
	PlanSettingsChanged      = action("plan settings changed")
	PlanFallbackChanged      = action("plan fallback changed")
	PlanPaused               = action("plan paused")
	PlanResumed              = action("plan resumed")
	TemplateSaved            = action("template saved")
	TemplateVersionActivated = action("template version activated")
	TemplateSwitchedOff      = action("template switched off")
	TemplateDeleted          = action("template deleted")
	TemplateGivenToATeam     = action("template given to a team")
)

// Applications.
var (
	ApplicationAdded                         = action("application added")
	ApplicationRenamed                       = action("application renamed")
	ApplicationDeleted                       = action("application deleted")
	ApplicationSettingsChanged               = action("application settings changed")
	ApplicationGivenToATeam                  = action("application given to a team")
	ApplicationSecondaryKeyAdded             = action("application secondary key added")
	ApplicationSecondaryKeyMadeThePrimaryOne = action("application secondary key made the primary one")
	ApplicationKeysReplaced                  = action("application keys replaced")
	ApplicationKeyRead                       = action("application key read")
	ApplicationCategoriesChanged             = action("application categories changed")
	ApplicationQuotaSet                      = action("application quota set")
	ApplicationQuotaRemoved                  = action("application quota removed")
	ApplicationIncidentEMailAddressesSet     = action("application incident e-mail addresses set")
	ApplicationFallbackChanged               = action("application fallback changed")
	DefaultModeSet                           = action("default mode set")
	TagSet                                   = action("tag set")
)

// Integrations, silences and heartbeats.
var (
	IntegrationAdded           = action("integration added")
	IntegrationChanged         = action("integration changed")
	IntegrationRemoved         = action("integration removed")
	IntegrationTokenAdded      = action("integration token added")
	OldIntegrationTokenRemoved = action("old integration token removed")
	IntegrationSecretsSet      = action("integration secrets set")
	HeartbeatAdded             = action("heartbeat added")
	HeartbeatChanged           = action("heartbeat changed")
	HeartbeatRemoved           = action("heartbeat removed")
	SilenceCreated             = action("silence created")
	SilenceChanged             = action("silence changed")
	SilenceEnded               = action("silence ended")
	ReviewSaved                = action("review saved")
	ReviewDeleted              = action("review deleted")
	UpdatePosted               = action("update posted")
	UpdatesSubscribed          = action("updates subscribed")
	UpdatesUnsubscribed        = action("updates unsubscribed")
)

// Directories.
var (
	SCIMConnectionCreated = action("SCIM connection created")
	SCIMConnectionDeleted = action("SCIM connection deleted")
	SCIMTokenCreated      = action("SCIM token created")
	SCIMTokensEnded       = action("SCIM tokens ended")
	SCIMUserAdded         = action("SCIM user added")
	SCIMUserDeleted       = action("SCIM user deleted")
	DeactivationHeld      = action("deactivation held")
	DeactivationWithdrawn = action("deactivation withdrawn")
	DeactivationConfirmed = action("deactivation confirmed")
	DeactivationRejected  = action("deactivation rejected")
)

// Calendars of teams.
var (
	TeamCreated                 = action("team created")
	TeamChanged                 = action("team changed")
	TeamDeleted                 = action("team deleted")
	TeamAdminAdded              = action("team administrator added")
	TeamAdminRemoved            = action("team administrator removed")
	RosterCreated               = action("roster created")
	RosterRenamed               = action("roster renamed")
	RosterDeleted               = action("roster deleted")
	RosterUserAdded             = action("roster member added")
	RosterUserChanged           = action("roster member changed")
	RosterUserRemoved           = action("roster member removed")
	ScheduleCreated             = action("schedule created")
	ScheduleChanged             = action("schedule changed")
	ScheduleDeleted             = action("schedule deleted")
	SchedulePopulated           = action("schedule populated")
	ScheduleFilled              = action("schedule filled")
	CalendarImported            = action("calendar imported")
	CalendarSubscribed          = action("calendar subscribed")
	CalendarSubscriptionChanged = action("calendar subscription changed")
	CalendarUnsubscribed        = action("calendar subscription removed")

	ShiftCreated          = action("shift created")
	ShiftChanged          = action("shift changed")
	ShiftDeleted          = action("shift deleted")
	ShiftsSwapped         = action("shifts swapped")
	ShiftOverridden       = action("shift overridden")
	ShiftEditUndone       = action("edit of shifts undone")
	PagerTaken            = action("pager taken")
	CoverageChanged       = action("coverage changed")
	HolidaysChanged       = action("holidays changed")
	HolidaysDeleted       = action("holidays deleted")
	SwapRequested         = action("swap requested")
	SwapAccepted          = action("swap accepted")
	SwapDeclined          = action("swap declined")
	SwapWithdrawn         = action("swap withdrawn")
	SwapExpired           = action("swap expired")
	UnavailabilityAdded   = action("unavailability added")
	UnavailabilityRemoved = action("unavailability removed")
)

// Changes of the running system by operators.
var (
	MemberDrained      = action("member drained")
	MemberDrainEnded   = action("member drain ended")
	SendingPaused      = action("sending paused")
	SendingResumed     = action("sending resumed")
	ApplicationPaused  = action("application paused")
	ApplicationResumed = action("application resumed")
	MessagesPurged     = action("messages purged")
	MessageSentAgain   = action("message sent again")
)

// Imports of the predecessors' data.
var (
	ImportedFromIris   = action("imported from iris")
	ImportedFromOncall = action("imported from oncall")
)

// calendar has the actions for the names in the log of the on-call API.
var calendar = map[string]Action{
	"team_created": TeamCreated, "team_edited": TeamChanged, "team_deleted": TeamDeleted, "admin_created": TeamAdminAdded, "admin_deleted": TeamAdminRemoved,
	"roster_created": RosterCreated, "roster_edited": RosterRenamed, "roster_deleted": RosterDeleted, "roster_user_added": RosterUserAdded,
	"roster_user_edited": RosterUserChanged, "roster_user_deleted": RosterUserRemoved, "schedule_created": ScheduleCreated, "schedule_edited": ScheduleChanged,
	"schedule_deleted": ScheduleDeleted, "schedule_populated": SchedulePopulated, "schedule_filled": ScheduleFilled, "calendar_imported": CalendarImported, "calendar_subscribed": CalendarSubscribed,
	"calendar_subscription_edited": CalendarSubscriptionChanged, "calendar_unsubscribed": CalendarUnsubscribed,
	"event_created": ShiftCreated, "event_edited": ShiftChanged, "event_deleted": ShiftDeleted, "event_swapped": ShiftsSwapped, "event_substituted": ShiftOverridden, "edit_undone": ShiftEditUndone,
	"pager_taken": PagerTaken, "coverage_edited": CoverageChanged, "holidays_edited": HolidaysChanged, "holidays_deleted": HolidaysDeleted,
	"swap_requested": SwapRequested, "swap_accepted": SwapAccepted, "swap_declined": SwapDeclined, "swap_withdrawn": SwapWithdrawn, "swap_expired": SwapExpired,
}

// Calendar returns the action for a name in the log of the on-call API; "" = there is none.
func Calendar(name string) Action { return calendar[name] }
