//go:build browser

package browser

// systemLayout returns the tabs of the system for TestLayout.
func systemLayout(*client) []layoutPage {
	return []layoutPage{
		{"system", "/system", `.buckets`}, {"system-queues", "/system?tab=queues", `h2`}, {"system-vendors",
			"/system?tab=vendors", `h2`},
		{"system-unreached", "/system?tab=unreached", `h2`}, {"system-refused", "/system?tab=refused", `h2`},
		{"system-configuration", "/system?tab=configuration", `td.title`}, {"system-versions", "/system?tab=versions",
			`.facts`},
	}
}
