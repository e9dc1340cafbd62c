package countries

import (
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ar"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/bg"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/lv"
	"github.com/rickar/cal/v2/mw"
	"github.com/rickar/cal/v2/nc"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/ro"
	"github.com/rickar/cal/v2/ru"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/sk"
	"github.com/rickar/cal/v2/ua"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"

	"github.com/iris-oncall/iris/internal/oncall"
)

// Country is a country, or a part of one that has holidays of its own.
type Country struct {
	Code     string // of ISO 3166, such as CH or CH-ZH
	Name     string // in English; a part is called by its code
	holidays []*cal.Holiday
}

// Title is the name of a subscription to the holidays.
func (c Country) Title() string { return "Holidays of " + c.Name }

// Days adds the public holidays from the year first to the year before end, and the days on which they are observed
// if that is another day, to days. A day keeps its first name. Names are in a language of the country.
func (c Country) Days(days map[oncall.Date]string, first, end int) {
	for year := first; year < end; year++ {
		for _, h := range c.holidays {
			actual, observed := h.Calc(year)
			for _, at := range []time.Time{actual, observed} {
				day := oncall.LocalDate(at.Year(), at.Month(), at.Day(), 0).Date()
				if _, known := days[day]; !known && !at.IsZero() {
					days[day] = h.Name
				}
			}
		}
	}
}

// Find returns the country with a code.
func Find(code string) (Country, bool) {
	for _, c := range All {
		if c.Code == code {
			return c, true
		}
	}
	return Country{}, false
}

// All are the countries that the library knows, by name.
var All = []Country{
	{"AR", "Argentina", ar.Holidays},
	{"AU-ACT", "Australia, ACT", au.HolidaysACT},
	{"AU-NSW", "Australia, NSW", au.HolidaysNSW},
	{"AU-NT", "Australia, NT", au.HolidaysNT},
	{"AU-QLD", "Australia, QLD", au.HolidaysQLD},
	{"AU-SA", "Australia, SA", au.HolidaysSA},
	{"AU-TAS", "Australia, TAS", au.HolidaysTAS},
	{"AU-VIC", "Australia, VIC", au.HolidaysVIC},
	{"AU-WA", "Australia, WA", au.HolidaysWA},
	{"AT", "Austria", at.Holidays},
	{"BE", "Belgium", be.Holidays},
	{"BR", "Brazil", br.Holidays},
	{"BG", "Bulgaria", bg.Holidays},
	{"CA", "Canada", ca.Holidays},
	{"HR", "Croatia", hr.Holidays},
	{"CZ", "Czechia", cz.Holidays},
	{"DK", "Denmark", dk.Holidays},
	{"FR", "France", fr.Holidays},
	{"DE", "Germany", de.Holidays},
	{"DE-BB", "Germany, BB", de.HolidaysBB},
	{"DE-BE", "Germany, BE", de.HolidaysBE},
	{"DE-BW", "Germany, BW", de.HolidaysBW},
	{"DE-BY", "Germany, BY", de.HolidaysBY},
	{"DE-HB", "Germany, HB", de.HolidaysHB},
	{"DE-HE", "Germany, HE", de.HolidaysHE},
	{"DE-HH", "Germany, HH", de.HolidaysHH},
	{"DE-MV", "Germany, MV", de.HolidaysMV},
	{"DE-NI", "Germany, NI", de.HolidaysNI},
	{"DE-NW", "Germany, NW", de.HolidaysNW},
	{"DE-RP", "Germany, RP", de.HolidaysRP},
	{"DE-SH", "Germany, SH", de.HolidaysSH},
	{"DE-SL", "Germany, SL", de.HolidaysSL},
	{"DE-SN", "Germany, SN", de.HolidaysSN},
	{"DE-ST", "Germany, ST", de.HolidaysST},
	{"DE-TH", "Germany, TH", de.HolidaysTH},
	{"GR", "Greece", gr.Holidays},
	{"IE", "Ireland", ie.Holidays},
	{"IT", "Italy", it.Holidays},
	{"JP", "Japan", jp.Holidays},
	{"LV", "Latvia", lv.Holidays},
	{"LT", "Lithuania", lt.Holidays},
	{"MW", "Malawi", mw.Holidays},
	{"NL", "Netherlands", nl.Holidays},
	{"NC", "New Caledonia", nc.Holidays},
	{"NZ", "New Zealand", nz.Holidays},
	{"NO", "Norway", no.Holidays},
	{"PL", "Poland", pl.Holidays},
	{"RO", "Romania", ro.Holidays},
	{"RU", "Russia", ru.Holidays},
	{"SK", "Slovakia", sk.Holidays},
	{"SI", "Slovenia", si.Holidays},
	{"ZA", "South Africa", za.Holidays},
	{"ES", "Spain", es.Holidays},
	{"SE", "Sweden", se.Holidays},
	{"CH", "Switzerland, all cantons", ch.Holidays},
	{"CH-AG", "Switzerland, AG", ch.HolidaysAG},
	{"CH-AI", "Switzerland, AI", ch.HolidaysAI},
	{"CH-AR", "Switzerland, AR", ch.HolidaysAR},
	{"CH-BE", "Switzerland, BE", ch.HolidaysBE},
	{"CH-BL", "Switzerland, BL", ch.HolidaysBL},
	{"CH-BS", "Switzerland, BS", ch.HolidaysBS},
	{"CH-FR", "Switzerland, FR", ch.HolidaysFR},
	{"CH-GE", "Switzerland, GE", ch.HolidaysGE},
	{"CH-GL", "Switzerland, GL", ch.HolidaysGL},
	{"CH-GR", "Switzerland, GR", ch.HolidaysGR},
	{"CH-JU", "Switzerland, JU", ch.HolidaysJU},
	{"CH-LU", "Switzerland, LU", ch.HolidaysLU},
	{"CH-NE", "Switzerland, NE", ch.HolidaysNE},
	{"CH-NW", "Switzerland, NW", ch.HolidaysNW},
	{"CH-OW", "Switzerland, OW", ch.HolidaysOW},
	{"CH-SG", "Switzerland, SG", ch.HolidaysSG},
	{"CH-SH", "Switzerland, SH", ch.HolidaysSH},
	{"CH-SO", "Switzerland, SO", ch.HolidaysSO},
	{"CH-SZ", "Switzerland, SZ", ch.HolidaysSZ},
	{"CH-TG", "Switzerland, TG", ch.HolidaysTG},
	{"CH-TI", "Switzerland, TI", ch.HolidaysTI},
	{"CH-UR", "Switzerland, UR", ch.HolidaysUR},
	{"CH-VD", "Switzerland, VD", ch.HolidaysVD},
	{"CH-VS", "Switzerland, VS", ch.HolidaysVS},
	{"CH-ZG", "Switzerland, ZG", ch.HolidaysZG},
	{"CH-ZH", "Switzerland, ZH", ch.HolidaysZH},
	{"UA", "Ukraine", ua.Holidays},
	{"GB", "United Kingdom", gb.Holidays},
	{"US", "United States", us.Holidays},
}
