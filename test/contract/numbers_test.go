package contract

import (
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
	usersdirectory "github.com/iris-oncall/iris/internal/users/directory"
)

// numberDoor stores a phone number for texts.
type numberDoor struct {
	name string
	// set stores a number of a person. It returns the status and the body of the answer.
	set   func(number string) (int, string)
	of    string // whose number it is
	field string // that a refusal names
}

// numberDoors are the doors that set contacts. Imports are not among them: their tests are in test/import.
func numberDoors(s *server) []numberDoor {
	through := func(as caller, method, path string, body func(number string) any) func(string) (int, string) {
		return func(number string) (int, string) {
			a := s.do(as, method, path, body(number))
			return a.status, a.body
		}
	}
	directory, pushes := s.connect("hr", nil), 0
	scim := func(number string) (int, string) {
		pushes++
		status, out, _ := s.scim(directory, post, "/Users",
			fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"externalId":"e%d","userName":"pushed%[1]d",
			"emails":[{"value":"pushed%[1]d@corp.test"}],"phoneNumbers":[{"type":"mobile","value":%q}],"active":true}`, pushes, number))
		return status, fmt.Sprint(out)
	}
	page := func(number string) (int, string) {
		a := s.post(bob, "/people/bob/contacts", "mode", "sms", "change", "true", "destination", number)
		return a.status, a.body
	}
	return []numberDoor{
		{"/api/v0/users", through(bob, put, "/api/v0/users/bob",
			func(n string) any { return m{"contacts": m{"sms": n}} }), "bob", "sms"},
		{"/v1/users/bob/contacts/sms", through(bob, put, "/v1/users/bob/contacts/sms",
			func(n string) any { return m{"destination": n} }), "bob", "destination"},
		{"POST /v1/users", through(admin, post, "/v1/users",
			func(n string) any { return m{"name": "zed", "contacts": m{"sms": n}} }), "zed", "contacts"},
		{"/people/bob/contacts", page, "bob", "destination"},
		{"/people", func(n string) (int, string) {
			a := s.post(admin, "/people", "name", "zed", "contacts.sms", n)
			return a.status, a.body
		}, "zed", "contacts.sms"},
		{"/scim/v2/Users", scim, "pushed%", ""},
	}
}

// number of a person for texts; "" = none.
func (s *server) storedNumber(of string) string {
	s.Helper()
	return s.text("select coalesce(max(c.destination), '') from user_contacts c join users u on u.id = c.user_id where c.mode = 'sms' and u.name like $1", of)
}

func (s *server) forgetNumbers() {
	s.Helper()
	s.exec("delete from user_contacts where mode in ('sms', 'call') and user_id in (select id from users where name = 'bob')")
	s.exec("delete from users where name = 'zed' or name like 'pushed%'")
}

// Every door stores a phone number in international form. One without a country code is refused, unless phone_region
// says its country.
func TestEveryDoorReadsPhoneNumbers(t *testing.T) {
	t.Parallel()
	const foreign, national = "+44 (0)20 7946 0958", "079 4609 5812"
	for region, want := range map[string]string{"": "", "GB": "+447946095812"} {
		t.Run("region "+region, func(t *testing.T) {
			t.Parallel()
			var more []string
			if region != "" {
				more = append(more, "phone_region: "+region)
			}
			s := newRelayWith(t, more...)
			for _, door := range numberDoors(s) {
				s.forgetNumbers()
				status, body := door.set(foreign)
				require.Less(t, status, 400, "%s: %s", door.name, body)
				require.Equal(t, "+442079460958", s.storedNumber(door.of), door.name)

				s.forgetNumbers()
				status, body = door.set(national)
				require.Equal(t, want, s.storedNumber(door.of), "%s: %d %s", door.name, status, body)
				switch {
				case want != "" || door.field == "": // a directory's person is added without the number
					require.Less(t, status, 400, "%s: %s", door.name, body)
				default:
					require.Equal(t, 400, status, "%s: %s", door.name, body)
					require.Contains(t, body, "country code", door.name)
					require.Contains(t, body, door.field, door.name)
				}
			}

			s.forgetNumbers()
			env := append(environment(s.T, s.db.Config().ConnString()), "IRIS_PHONE_REGION="+region)
			s.iris(env, "", "contact", "set", "bob", "sms", foreign)
			require.Equal(t, "+442079460958", s.storedNumber("bob"), "iris contact set")
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "iris"), "contact", "set", "bob", "sms",
				national)
			cmd.Env = env
			out, err := cmd.CombinedOutput()
			if want == "" {
				require.Error(t, err)
				require.Contains(t, string(out), "country code")
			} else {
				require.NoError(t, err, string(out))
				require.Equal(t, want, s.storedNumber("bob"), "iris contact set")
			}

			ldap := func(number string) string {
				p := usersdirectory.Compare(usersdirectory.LDAP, nil,
					[]usersdirectory.Entry{{Ref: "uid=ann", Name: "ann", FullName: "Ann Lee", Email: "ann@example.com",
						Phone: number}}, nil, usersdirectory.Rules{Region: users.Region(region)})
				require.Len(t, p.Changes, 1)
				return p.Changes[0].Contacts[users.SMS]
			}
			require.Equal(t, "+442079460958", ldap(foreign), "LDAP")
			require.Equal(t, want, ldap(national), "LDAP adds the person without the number that it cannot read")

			// A text from the number is the person's.
			s.forgetNumbers()
			s.iris(env, "", "contact", "set", "bob", "sms", foreign)
			incident, message := s.page("sms")
			s.twilio(post, "/api/v0/twilio/messages/relay", url.Values{"From": {"+442079460958"},
				"Body": {fmt.Sprintf("%d claim", message)}}).is(200)
			require.EqualValues(t, 1, s.number("select count(*) from incidents i join users u on u.id = i.owner_id where i.id = $1 and u.name = 'bob'", incident))
		})
	}
}
