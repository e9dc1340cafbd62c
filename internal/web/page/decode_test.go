package page

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

type scope struct {
	Team operation.Text `json:"team"`
}

type visit struct {
	scope
	operation.State
	Name     string            `json:"name,omitempty"`
	Days     *int              `json:"days"`
	Floor    uint              `json:"floor"`
	Rate     float64           `json:"rate"`
	Late     bool              `json:"late"`
	Wait     int64             `json:"wait_seconds"`
	From     time.Time         `json:"from"`
	Guests   []string          `json:"guests"`
	IDs      []int64           `json:"id"`
	Contacts map[string]string `json:"contacts"`
	Settings struct {
		Title string `json:"title"`
	} `json:"settings"`
	Rules []struct {
		Mode  string `json:"mode"`
		Steps []struct {
			Delay int64 `json:"delay_seconds"`
		} `json:"steps"`
	} `json:"rules"`
}

func decoded(form url.Values) (visit, error) {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.AddCookie(&http.Cookie{Name: zoneCookie, Value: "Europe/Berlin"})
	r.PostForm = form
	return Decode[visit](r)
}

func TestAFormIsDecodedIntoTheInputOfAnOperation(t *testing.T) {
	t.Parallel()
	in, err := decoded(url.Values{"name": {" ann "}, "team": {"db"}, "days": {"3"}, "floor": {"2"}, "rate": {"1.5"},
		"late": {"on"}, "wait_seconds": {"1h 30m"},
		"from": {"2026-07-01T22:00"}, "guests": {"bob, eve\r\n\r\nkim", "lea", ""}, "id": {"7", "9",
			""}, "contacts[email]": {"a@b"}, "contacts[sms]": {""},
		"settings.title": {"{{ x }}"}, "rules[0].mode": {"call"}, "rules[1].steps[0].delay_seconds": {"2m"}, "unknown": {"x"}, "do": {"save"}})
	require.NoError(t, err)
	require.Equal(t, "ann", in.Name)
	require.EqualValues(t, "db", in.Team, "embedded structs have no name")
	require.Equal(t, 3, *in.Days)
	require.EqualValues(t, 2, in.Floor)
	require.InDelta(t, 1.5, in.Rate, 0)
	require.True(t, in.Late)
	require.EqualValues(t, 5400, in.Wait)
	require.True(t, in.From.Equal(time.Date(2026, 7, 1, 20, 0, 0, 0, time.UTC)), "a time is in the zone of the reader")
	require.Equal(t, []string{"bob", "eve", "kim", "lea"}, in.Guests)
	require.Equal(t, []int64{7, 9}, in.IDs, "a field that is sent several times is a list")
	require.Equal(t, map[string]string{"email": "a@b"}, in.Contacts)
	require.Equal(t, "{{ x }}", in.Settings.Title)
	require.Equal(t, "call", in.Rules[0].Mode)
	require.EqualValues(t, 120, in.Rules[1].Steps[0].Delay)

	in, err = decoded(url.Values{"days": {""}, "from": {" "}, "rate": {""}, "IfMatch": {"*"},
		"name": {"first", "second"}})
	require.NoError(t, err)
	require.Nil(t, in.Days, "an empty field is not given")
	require.True(t, in.From.IsZero())
	require.Empty(t, in.IfMatch, "a form sets only members of the JSON")
	require.Equal(t, "first", in.Name)
}

func TestAllWrongFieldsOfAFormAreNamed(t *testing.T) {
	t.Parallel()
	in, err := decoded(url.Values{"name": {"ann"}, "days": {"many"}, "floor": {"-1"}, "rate": {"x"},
		"late": {"perhaps"}, "wait_seconds": {"soon"}, "from": {"noon"}, "id": {"7", "x"},
		"rules[0].steps[0].delay_seconds": {"never"}})
	require.True(t, fault.Is(err, fault.Invalid))
	require.Equal(t, "ann", in.Name, "the others are read")
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	found := map[string]string{f.Field: f.Message}
	for _, other := range f.Others {
		found[other.Name] = other.Message
	}
	require.Equal(t, map[string]string{"days": "days must be a whole number",
		"floor": "floor must be a whole number, 0 or more", "rate": "rate must be a number",
		"late": "late must be true or false", "wait_seconds": `"soon" is no period: write one such as 30s, 5m or 1h30m`, "from": "from must be a time such as 2026-01-31T22:00",
		"id": "id must be a whole number", "rules[0].steps[0].delay_seconds": `"never" is no period: write one such as 30s, 5m or 1h30m`}, found)
	refusal := Refusal{Status: 400, Field: f.Field, Text: f.Message, Others: f.Others}
	require.Equal(t, "days", refusal.Field, "the order does not change")
	require.Equal(t, "rate must be a number", refusal.At("rate"))
	require.Equal(t, f.Message, refusal.At("days"))
	require.Empty(t, refusal.At("name"))
	require.Empty(t, Refusal{}.At(""))
}

func TestAFormIsBounded(t *testing.T) {
	t.Parallel()
	many := url.Values{}
	for i := range maxFields {
		many.Set(fmt.Sprintf("rules[%d].mode", i), "call")
	}
	_, err := decoded(many)
	require.NoError(t, err)
	many.Set("name", "one more")
	_, err = decoded(many)
	require.EqualError(t, err, "The form has too many fields")

	values := strings.Split(strings.Repeat("1 ", maxList+1), " ")
	for name, form := range map[string]url.Values{
		"id":     {"id": values},
		"guests": {"guests": {strings.Join(values, ",")}},
		"rules":  {fmt.Sprintf("rules[%d].mode", maxList): {"call"}},
	} {
		_, err = decoded(form)
		require.Equal(t, name, fault.FieldOf(err), name)
	}
}

// The library panics at these names. A form can have any name: they are ignored as other unknown ones are.
func TestNamesThatAreNoFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"]", "[", "rules[", "rules]", "rules[0", "rules[0]]", "rules[9223372036854775807].mode", "rules[-1].mode", "rules[].mode", "rules[0][", "",
		strings.Repeat("x", 1000), "contacts[" + strings.Repeat("x", 100) + "]"} {
		in, err := decoded(url.Values{name: {"x"}, "name": {"ann"}})
		require.NoError(t, err, name)
		require.Equal(t, visit{Name: "ann"}, in, name)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("rules[0].mode=call&contacts[email]=x&days=3")
	f.Add("id=1&id=2&from=2026-01-01T00:00&rules[1].steps[2].delay_seconds=5m")
	f.Fuzz(func(t *testing.T, body string) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		var wrong *fault.Error
		if _, err = decoded(form); err != nil && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
	})
}
