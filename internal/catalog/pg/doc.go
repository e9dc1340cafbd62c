// Package pg stores configuration: applications, plans, templates, on-call roles and services, the targets that plans
// may name, and the statistics of applications. The APIs, the simulation and the operator's commands use it.
package pg
