package countries_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/countries"
)

func TestEveryCountryHasHolidays(t *testing.T) {
	t.Parallel()
	code, seen := regexp.MustCompile(`^[A-Z]{2}(-[A-Z]{2,3})?$`), map[string]bool{}
	for _, c := range countries.All {
		require.Regexp(t, code, c.Code)
		require.False(t, seen[c.Code] || seen[c.Name], c.Code)
		seen[c.Code], seen[c.Name] = true, true
		days := map[oncall.Date]string{}
		c.Days(days, 2020, 2047)
		require.Greater(t, len(days), 27*5, c.Code)
		require.Less(t, len(days), 27*30, c.Code)
		for day, name := range days {
			require.NotEmpty(t, name, "%s %s", c.Code, day)
			require.True(t, day.String() >= "2019-12-25" && day.String() <= "2047-01-10", "%s %s %s", c.Code, day, name)
		}
	}
	require.Greater(t, len(countries.All), 80)
}

func TestHolidaysOfACountryAndOfItsPart(t *testing.T) {
	t.Parallel()
	on := func(code string, month time.Month, dayOfMonth int) string {
		c, known := countries.Find(code)
		require.True(t, known, code)
		days := map[oncall.Date]string{}
		c.Days(days, 2027, 2028)
		return days[oncall.LocalDate(2027, month, dayOfMonth, 0).Date()]
	}
	require.Equal(t, "Fronleichnam", on("DE-BY", time.May, 27))
	require.Empty(t, on("DE-BE", time.May, 27))
	require.Equal(t, "Independence Day", on("US", time.July, 4), "a Sunday")
	require.Equal(t, "Independence Day", on("US", time.July, 5), "the day on which it is observed")
	_, known := countries.Find("XX")
	require.False(t, known)
}
