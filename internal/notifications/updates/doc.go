// Package updates is what people tell others about an incident: somebody writes an update, and everybody who subscribed
// to the incident, its application or its team gets it once, by e-mail, Slack or webhook. An update never pages. The
// pages, /v1 and the command line call its operations; notifications/pg stores updates and makes their messages.
package updates
