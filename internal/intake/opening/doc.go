// Package opening opens incidents that an application or a person asks for. It finds the plan, the application and the
// dynamic targets, checks who may open the incident, and applies the limits of the application. The edges of /v0 and
// /v1 call it. It knows no transport and no storage.
package opening
