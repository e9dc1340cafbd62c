// Package planning has the operations on who is to be on call when: the rotations of teams, the cover that they want,
// the times in which people cannot be on call, and holidays. The rules of calendars are in the packages scheduling and
// editing.
package planning
