// Package statistics stores counts of incidents, messages, calls of vendors and pages, and computes figures from them. Counts are kept in three
// forms: by hour in tables that SQL reads, each day packed in one value that figures of a period read, and the figures of the hour in which /v0
// asked. The job of internal/jobs counts and packs; internal/api/statistics and internal/irisapi/applications read.
package statistics
