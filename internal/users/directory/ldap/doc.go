// Package ldap queries LDAP servers: it checks passwords, and lists people and mailing lists. The log-in and the
// synchronisation call it through internal/program/directories. Its errors have names of servers and result codes, but
// no distinguished names, filters or passwords.
package ldap
