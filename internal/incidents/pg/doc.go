// Package pg stores incidents as people and programs see them: opening, acknowledging, resolving, comments, timelines,
// messages and their receipts, answers, and statistics. The APIs, the webhooks, the pages and the receiver of answers
// use it. Package engine escalates incidents.
package pg
