// Package oncall answers who is meant by a role of a target at an instant. One resolver serves paging, API, calendar
// and simulator (promise P9). On-call roles are answered from the team's calendar of shifts, which schedules fill and
// people edit; if the calendar has no answer, from the team's fixed order. It reads through interfaces, and does not
// know SQL or HTTP. A target that does not exist is a NotFound fault.
package oncall
