package config

import (
	"strings"
	_ "time/tzdata" // the machine may have no time zone database
)

// defaultTimeZones are the zones that people may choose if time_zones is not set.
func defaultTimeZones() []string {
	return strings.Fields(`
		UTC
		US/Pacific US/Eastern US/Central US/Mountain US/Alaska US/Hawaii
		Africa/Cairo Africa/Johannesburg Africa/Lagos Africa/Nairobi
		America/Anchorage America/Argentina/Buenos_Aires America/Bogota America/Chicago America/Denver America/Halifax
		America/Lima America/Los_Angeles America/Mexico_City America/New_York America/Phoenix America/Santiago
		America/Sao_Paulo America/St_Johns America/Toronto America/Vancouver
		Asia/Bangkok Asia/Dhaka Asia/Dubai Asia/Hong_Kong Asia/Jakarta Asia/Jerusalem Asia/Karachi Asia/Kathmandu
		Asia/Kolkata Asia/Manila Asia/Riyadh Asia/Seoul Asia/Shanghai Asia/Singapore Asia/Taipei Asia/Tehran Asia/Tokyo
		Atlantic/Reykjavik
		Australia/Adelaide Australia/Brisbane Australia/Melbourne Australia/Perth Australia/Sydney
		Europe/Amsterdam Europe/Athens Europe/Berlin Europe/Dublin Europe/Helsinki Europe/Istanbul Europe/Lisbon
		Europe/London Europe/Madrid Europe/Moscow Europe/Paris Europe/Rome Europe/Stockholm Europe/Warsaw Europe/Zurich
		Pacific/Auckland Pacific/Honolulu`)
}
