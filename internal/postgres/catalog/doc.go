// Package catalog stores configuration: applications, plans, templates, on-call roles and services, and the targets that plans
// may name. The APIs, the simulation and the operator's commands use it.
package catalog
