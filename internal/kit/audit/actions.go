package audit

import "slices"

// Action names what was done. The list is closed: the storage refuses an entry with another action.
type Action string

// Log-ins and sessions.
const (
	LoggedIn      Action = "logged in"
	LoggedOut     Action = "logged out"
	LogInRefused  Action = "log-in refused"
	SessionEnded  Action = "session ended"
	SessionsEnded Action = "sessions ended"
)

// Tokens and keys.
const (
	TokenCreated           Action = "token created"
	TokenRevoked           Action = "token revoked"
	ServiceTokenCreated    Action = "service token created"
	ServiceTokenRevoked    Action = "service token revoked"
	CalendarFeedKeyCreated Action = "calendar feed key created"
	CalendarFeedKeyDeleted Action = "calendar feed key deleted"
)

// Accounts.
const (
	UserCreated           Action = "user created"
	UserChanged           Action = "user changed"
	UserDeleted           Action = "user deleted"
	UserSwitchedOn        Action = "user switched on"
	UserSwitchedOff       Action = "user switched off"
	RoleChanged           Action = "role changed"
	PasswordSet           Action = "password set"
	PasswordRemoved       Action = "password removed"
	PasswordReset         Action = "password reset"
	PasswordLinkSent      Action = "password link sent"
	SecondFactorSet       Action = "second factor set"
	SecondFactorRemoved   Action = "second factor removed"
	RecoveryCodesReplaced Action = "recovery codes replaced"
	InvitationAdded       Action = "invitation added"
	InvitationSentAgain   Action = "invitation sent again"
	InvitationRevoked     Action = "invitation revoked"
	InvitationAccepted    Action = "invitation accepted"
	AccountLinked         Action = "account linked"
	AccountUnlinked       Action = "account unlinked"
)

// Settings of people.
const (
	ContactSet              Action = "contact set"
	ContactVerified         Action = "contact verified"
	ModesSet                Action = "modes set"
	TimeZoneSet             Action = "time zone set"
	TimesSet                Action = "time zone and clock set"
	TestMessageSent         Action = "test message sent"
	FixedTextSwitchedOn     Action = "fixed text switched on"
	FixedTextSwitchedOff    Action = "fixed text switched off"
	NotificationRulesSet    Action = "notification rules set"
	QuietTimeLimitsSet      Action = "quiet-time limits set"
	ReprioritisationSet     Action = "reprioritisation set"
	ReprioritisationRemoved Action = "reprioritisation removed"
	CategoriesSet           Action = "categories set"
	CategoriesCleared       Action = "categories cleared"
	DeviceRegistered        Action = "device registered"
	DeviceSwitchedOff       Action = "device switched off"
	RemindersSet            Action = "reminders set"
	TeamPinned              Action = "team pinned"
	TeamUnpinned            Action = "team unpinned"
)

// Teams.
const (
	TeamAdded               Action = "team added"
	TeamMemberAdded         Action = "team member added"
	TeamMemberRemoved       Action = "team member removed"
	RosterOrderChanged      Action = "roster order changed"
	TeamSubscribed          Action = "team subscribed"
	TeamUnsubscribed        Action = "team unsubscribed"
	ServiceAddedToATeam     Action = "service added to a team"
	ServiceRemovedFromATeam Action = "service removed from a team"
	MailingListAdded        Action = "mailing list added"
	MailingListChanged      Action = "mailing list changed"
	MailingListSwitchedOn   Action = "mailing list switched on"
	MailingListSwitchedOff  Action = "mailing list switched off"
)

// Roles and services.
const (
	OnCallRoleCreated Action = "on-call role created"
	OnCallRoleDeleted Action = "on-call role deleted"
	ServiceSaved      Action = "service saved"
	ServiceDeleted    Action = "service deleted"
)

// Plans and templates.
const (
	PlanSaved                Action = "plan saved"
	PlanVersionActivated     Action = "plan version activated"
	PlanSwitchedOff          Action = "plan switched off"
	PlanDeleted              Action = "plan deleted"
	PlanGivenToATeam         Action = "plan given to a team"
	PlanSettingsChanged      Action = "plan settings changed"
	PlanFallbackChanged      Action = "plan fallback changed"
	PlanPaused               Action = "plan paused"
	PlanResumed              Action = "plan resumed"
	TemplateSaved            Action = "template saved"
	TemplateVersionActivated Action = "template version activated"
	TemplateSwitchedOff      Action = "template switched off"
	TemplateDeleted          Action = "template deleted"
	TemplateGivenToATeam     Action = "template given to a team"
)

// Applications.
const (
	ApplicationAdded                         Action = "application added"
	ApplicationRenamed                       Action = "application renamed"
	ApplicationDeleted                       Action = "application deleted"
	ApplicationSettingsChanged               Action = "application settings changed"
	ApplicationGivenToATeam                  Action = "application given to a team"
	ApplicationSecondaryKeyAdded             Action = "application secondary key added"
	ApplicationSecondaryKeyMadeThePrimaryOne Action = "application secondary key made the primary one"
	ApplicationKeysReplaced                  Action = "application keys replaced"
	ApplicationKeyRead                       Action = "application key read"
	ApplicationCategoriesChanged             Action = "application categories changed"
	ApplicationQuotaSet                      Action = "application quota set"
	ApplicationQuotaRemoved                  Action = "application quota removed"
	ApplicationIncidentEMailAddressesSet     Action = "application incident e-mail addresses set"
	ApplicationFallbackChanged               Action = "application fallback changed"
	DefaultModeSet                           Action = "default mode set"
	TagSet                                   Action = "tag set"
)

// Integrations, silences and heartbeats.
const (
	IntegrationAdded           Action = "integration added"
	IntegrationChanged         Action = "integration changed"
	IntegrationRemoved         Action = "integration removed"
	IntegrationTokenAdded      Action = "integration token added"
	OldIntegrationTokenRemoved Action = "old integration token removed"
	IntegrationSecretsSet      Action = "integration secrets set"
	HeartbeatAdded             Action = "heartbeat added"
	HeartbeatChanged           Action = "heartbeat changed"
	HeartbeatRemoved           Action = "heartbeat removed"
	SilenceCreated             Action = "silence created"
	SilenceChanged             Action = "silence changed"
	SilenceEnded               Action = "silence ended"
)

// Directories.
const (
	SCIMConnectionCreated Action = "SCIM connection created"
	SCIMConnectionDeleted Action = "SCIM connection deleted"
	SCIMTokenCreated      Action = "SCIM token created"
	SCIMTokensEnded       Action = "SCIM tokens ended"
	SCIMUserAdded         Action = "SCIM user added"
	SCIMUserDeleted       Action = "SCIM user deleted"
	DeactivationHeld      Action = "deactivation held"
	DeactivationWithdrawn Action = "deactivation withdrawn"
	DeactivationConfirmed Action = "deactivation confirmed"
	DeactivationRejected  Action = "deactivation rejected"
)

// Calendars of teams.
const (
	TeamCreated          Action = "team created"
	TeamChanged          Action = "team changed"
	TeamDeleted          Action = "team deleted"
	TeamAdminAdded       Action = "team administrator added"
	TeamAdminRemoved     Action = "team administrator removed"
	RosterCreated        Action = "roster created"
	RosterRenamed        Action = "roster renamed"
	RosterDeleted        Action = "roster deleted"
	RosterUserAdded      Action = "roster member added"
	RosterUserChanged    Action = "roster member changed"
	RosterUserRemoved    Action = "roster member removed"
	ScheduleCreated      Action = "schedule created"
	ScheduleChanged      Action = "schedule changed"
	ScheduleDeleted      Action = "schedule deleted"
	SchedulePopulated    Action = "schedule populated"
	ScheduleFilled       Action = "schedule filled"
	CalendarImported     Action = "calendar imported"
	CalendarSubscribed   Action = "calendar subscribed"
	CalendarUnsubscribed Action = "calendar subscription removed"

	CalendarSubscriptionChanged Action = "calendar subscription changed"

	ShiftCreated          Action = "shift created"
	ShiftChanged          Action = "shift changed"
	ShiftDeleted          Action = "shift deleted"
	ShiftsSwapped         Action = "shifts swapped"
	ShiftEditUndone       Action = "edit of shifts undone"
	ShiftOverridden       Action = "shift overridden"
	PagerTaken            Action = "pager taken"
	CoverageChanged       Action = "coverage changed"
	HolidaysChanged       Action = "holidays changed"
	HolidaysDeleted       Action = "holidays deleted"
	SwapRequested         Action = "swap requested"
	SwapAccepted          Action = "swap accepted"
	SwapDeclined          Action = "swap declined"
	SwapWithdrawn         Action = "swap withdrawn"
	SwapExpired           Action = "swap expired"
	UnavailabilityAdded   Action = "unavailability added"
	UnavailabilityRemoved Action = "unavailability removed"
)

// Changes of the running system by operators.
const (
	MemberDrained      Action = "member drained"
	MemberDrainEnded   Action = "member drain ended"
	SendingPaused      Action = "sending paused"
	SendingResumed     Action = "sending resumed"
	ApplicationPaused  Action = "application paused"
	ApplicationResumed Action = "application resumed"
	MessagesPurged     Action = "messages purged"
	MessageSentAgain   Action = "message sent again"
)

// Imports of the predecessors' data.
const (
	ImportedFromIris   Action = "imported from iris"
	ImportedFromOncall Action = "imported from oncall"
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

// Actions lists all actions.
func Actions() []Action {
	return []Action{
		LoggedIn, LoggedOut, LogInRefused, SessionEnded, SessionsEnded, TokenCreated,
		TokenRevoked, ServiceTokenCreated, ServiceTokenRevoked, CalendarFeedKeyCreated, CalendarFeedKeyDeleted, UserCreated,
		UserChanged, UserDeleted, UserSwitchedOn, UserSwitchedOff, RoleChanged, PasswordSet,
		PasswordRemoved, PasswordReset, PasswordLinkSent, SecondFactorSet, SecondFactorRemoved, RecoveryCodesReplaced, InvitationAdded,
		InvitationSentAgain, InvitationRevoked, InvitationAccepted, AccountLinked, AccountUnlinked, ContactSet,
		ContactVerified, ModesSet, TimeZoneSet, TimesSet, TestMessageSent, FixedTextSwitchedOn, FixedTextSwitchedOff, NotificationRulesSet,
		QuietTimeLimitsSet, ReprioritisationSet, ReprioritisationRemoved, CategoriesSet, CategoriesCleared, DeviceRegistered,
		DeviceSwitchedOff, RemindersSet, TeamPinned, TeamUnpinned, TeamAdded, TeamMemberAdded,
		TeamMemberRemoved, RosterOrderChanged, TeamSubscribed, TeamUnsubscribed, ServiceAddedToATeam, ServiceRemovedFromATeam,
		MailingListAdded, MailingListChanged, MailingListSwitchedOn, MailingListSwitchedOff, OnCallRoleCreated, OnCallRoleDeleted,
		ServiceSaved, ServiceDeleted, PlanSaved, PlanVersionActivated, PlanSwitchedOff, PlanDeleted,
		PlanGivenToATeam, PlanSettingsChanged, PlanFallbackChanged, PlanPaused, PlanResumed, TemplateSaved, TemplateVersionActivated, TemplateSwitchedOff,
		TemplateDeleted, TemplateGivenToATeam, ApplicationAdded, ApplicationRenamed, ApplicationDeleted, ApplicationSettingsChanged,
		ApplicationGivenToATeam, ApplicationSecondaryKeyAdded, ApplicationSecondaryKeyMadeThePrimaryOne, ApplicationKeysReplaced, ApplicationKeyRead, ApplicationCategoriesChanged, ApplicationQuotaSet,
		ApplicationQuotaRemoved, ApplicationIncidentEMailAddressesSet, ApplicationFallbackChanged, DefaultModeSet, TagSet, IntegrationAdded, IntegrationChanged,
		IntegrationRemoved, IntegrationTokenAdded, OldIntegrationTokenRemoved, IntegrationSecretsSet, HeartbeatAdded, HeartbeatChanged,
		HeartbeatRemoved, SilenceCreated, SilenceChanged, SilenceEnded, SCIMConnectionCreated, SCIMConnectionDeleted,
		SCIMTokenCreated, SCIMTokensEnded, SCIMUserAdded, SCIMUserDeleted, DeactivationHeld, DeactivationWithdrawn,
		DeactivationConfirmed, DeactivationRejected, TeamCreated, TeamChanged, TeamDeleted, TeamAdminAdded,
		TeamAdminRemoved, RosterCreated, RosterRenamed, RosterDeleted, RosterUserAdded, RosterUserChanged,
		RosterUserRemoved, ScheduleCreated, ScheduleChanged, ScheduleDeleted, SchedulePopulated, ScheduleFilled,
		CalendarImported, CalendarSubscribed, CalendarSubscriptionChanged, CalendarUnsubscribed, ShiftCreated, ShiftChanged, ShiftDeleted, ShiftsSwapped, ShiftOverridden, ShiftEditUndone,
		PagerTaken, CoverageChanged, HolidaysChanged, HolidaysDeleted, SwapRequested, SwapAccepted,
		SwapDeclined, SwapWithdrawn, SwapExpired, UnavailabilityAdded, UnavailabilityRemoved,
		MemberDrained, MemberDrainEnded, SendingPaused, SendingResumed, ApplicationPaused, ApplicationResumed, MessagesPurged, MessageSentAgain,
		ImportedFromIris, ImportedFromOncall,
	}
}

// Known reports whether the action is in the list.
func (a Action) Known() bool { return slices.Contains(Actions(), a) }
