// Package statistics stores counts of incidents, messages, calls of vendors and pages, and computes figures from them. Counts have three
// forms: rows by hour, a packed value for each day (for the figures of a period), and the figures of the current hour (for /v0). The job of
// internal/jobs counts and packs; internal/api/statistics and internal/irisapi/applications read.
package statistics
