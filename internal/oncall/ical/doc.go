// Package ical writes and reads iCalendar (RFC 5545): the feeds that calendar programs subscribe to, and the external
// calendars that teams import. The edges and jobs call it. It does not know transport or storage. Feeds are in UTC, so
// that no program needs our zone tables; imported times may be in any IANA zone. Text that cannot be read is an Invalid
// fault of the field "body"; one unreadable event is a Problem.
package ical
