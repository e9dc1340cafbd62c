package directory

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

var swiss = Rules{Region: "CH", Slack: SlackByName, PhotoURL: "https://photos.example.com/{name}.jpg"}

func contacts(email, phone, slack string) map[users.Mode]string {
	all := map[users.Mode]string{users.Email: email, users.Call: phone, users.SMS: phone, users.Slack: slack}
	for mode, destination := range all {
		if destination == "" {
			delete(all, mode)
		}
	}
	return all
}

// ann returns Ann's entry in the directory and the same person in Iris, without differences.
func ann() (Entry, Known) {
	c := contacts("ann@example.com", "+41791234567", "ann")
	return Entry{Ref: "uid=ann", Name: "ann", FullName: "Ann Lee", Email: "ann@example.com", Phone: "079 123 45 67"},
		Known{User: users.User{ID: 7, Name: "Ann", FullName: "Ann Lee", Active: true}, PhotoURL: "x", Contacts: c, Source: LDAP, Given: c}
}

func only(t *testing.T, p Plan) Change {
	t.Helper()
	require.Len(t, p.Changes, 1)
	return p.Changes[0]
}

func str(s string) *string { return &s }

func TestCompareAddsAPerson(t *testing.T) {
	t.Parallel()
	e, _ := ann()
	c := contacts("ann@example.com", "+41791234567", "ann")
	require.Equal(t, Change{
		Kind: Add, Name: "ann", Source: LDAP, FullName: str("Ann Lee"), PhotoURL: str("https://photos.example.com/ann.jpg"), Contacts: c, Given: c,
	}, only(t, Compare(LDAP, nil, []Entry{e}, nil, swiss)))
	rules := Rules{Region: "US", Slack: SlackByEmail}
	require.Equal(t, contacts("ann@example.com", "+15551234567", "ann@example.com"),
		only(t, Compare(LDAP, nil, []Entry{{Name: "ann", Email: "ann@example.com", Phone: "(555) 123-4567"}}, nil, rules)).Contacts)
	rules.Slack = SlackNone
	require.Equal(t, contacts("ann@example.com", "", "@a"),
		only(t, Compare(LDAP, nil, []Entry{{Name: "ann", Email: "ann@example.com", SlackName: "@a"}}, nil, rules)).Contacts)
}

func TestCompareWithoutDifferences(t *testing.T) {
	t.Parallel()
	e, k := ann()
	p := Compare(LDAP, []Known{k}, []Entry{e}, nil, swiss)
	require.Empty(t, p.Changes)
	require.Empty(t, p.Problems)
	require.Equal(t, 1, p.Synced)
}

func TestCompareChangesAPerson(t *testing.T) {
	t.Parallel()
	full := contacts("ann@example.com", "+41791234567", "ann")
	for name, tc := range map[string]struct {
		change func(*Entry, *Known)
		want   Change
	}{
		"another name and number": {
			func(e *Entry, _ *Known) { e.FullName, e.Phone = "Ann Ray", "+1 555 123 4567" },
			Change{Kind: Update, FullName: str("Ann Ray"), Contacts: map[users.Mode]string{users.Call: "+15551234567", users.SMS: "+15551234567"},
				Given: contacts("ann@example.com", "+15551234567", "ann")},
		},
		"the directory wins over what a person wrote": {
			func(_ *Entry, k *Known) { k.Contacts = contacts("private@example.com", "+41791234567", "ann") },
			Change{Kind: Update, Contacts: map[users.Mode]string{users.Email: "ann@example.com"}},
		},
		"a number that the directory gave goes with it": {
			func(e *Entry, _ *Known) { e.Phone = "" },
			Change{Kind: Update, Contacts: map[users.Mode]string{users.Call: "", users.SMS: ""}, Given: contacts("ann@example.com", "", "ann")},
		},
		"a number that a person put in its place stays": {
			func(e *Entry, k *Known) {
				e.Phone, k.Contacts = "", contacts("ann@example.com", "+41440000000", "ann")
			},
			Change{Kind: Adopt, Contacts: map[users.Mode]string{}, Given: contacts("ann@example.com", "", "ann")},
		},
		"a first photo": {
			func(_ *Entry, k *Known) { k.PhotoURL = "" },
			Change{Kind: Update, PhotoURL: str("https://photos.example.com/ann.jpg"), Contacts: map[users.Mode]string{}},
		},
		"who was here before is adopted": {
			func(_ *Entry, k *Known) { k.Source, k.Given = "", nil },
			Change{Kind: Adopt, Contacts: map[users.Mode]string{}, Given: full},
		},
		"back in the directory": {
			func(_ *Entry, k *Known) { k.Active, k.SwitchedOff = false, true },
			Change{Kind: SwitchOn, Contacts: map[users.Mode]string{}},
		},
		"back, and switched on by hand before": {
			func(_ *Entry, k *Known) { k.SwitchedOff = true },
			Change{Kind: Adopt, Contacts: map[users.Mode]string{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, k := ann()
			tc.change(&e, &k)
			tc.want.ID, tc.want.Name, tc.want.Source = 7, "Ann", LDAP
			require.Equal(t, tc.want, only(t, Compare(LDAP, []Known{k}, []Entry{e}, nil, swiss)))
		})
	}
}

func TestCompareKeepsAPerson(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Entry, *Known){
		"a number that cannot be understood": func(e *Entry, _ *Known) { e.Phone = "call the desk" },
		"no full name":                       func(e *Entry, _ *Known) { e.FullName = " " },
		"switched off by hand":               func(_ *Entry, k *Known) { k.Active = false },
		"an address that is none":            func(e *Entry, _ *Known) { e.Email = "ann at example" },
		"no address":                         func(e *Entry, _ *Known) { e.Email = "" },
	} {
		e, k := ann()
		change(&e, &k)
		require.Empty(t, Compare(LDAP, []Known{k}, []Entry{e}, nil, swiss).Changes, name)
	}
}

func TestCompareSwitchesPeopleOff(t *testing.T) {
	t.Parallel()
	e, k := ann()
	bob := Known{User: users.User{ID: 8, Name: "bob", Active: true}, PhotoURL: "x", Source: LDAP}
	byHand := Known{User: users.User{ID: 9, Name: "operator", Active: true}}
	slack := Known{User: users.User{ID: 10, Name: "slacker", Active: true}, Source: Slack}
	p := Compare(LDAP, []Known{k, bob, byHand, slack}, []Entry{e}, nil, swiss)
	require.Equal(t, Change{Kind: SwitchOff, ID: 8, Name: "bob", Source: LDAP}, only(t, p), "nobody whom the directory never had")
	require.Equal(t, 2, p.Synced)
	require.Equal(t, 1, p.Gone)
	require.Equal(t, 2, p.Unsynced)

	again := bob
	again.SwitchedOff = true
	require.Empty(t, Compare(LDAP, []Known{k, again}, []Entry{e}, nil, swiss).Changes, "an operator switched bob on again")
	p = Compare(LDAP, []Known{k, bob}, []Entry{e}, []Entry{{Name: "BOB"}}, swiss)
	require.Empty(t, p.Changes, "presets never vanish, and lose nothing")
	_, k = ann()
	require.Empty(t, Compare(LDAP, []Known{k}, []Entry{{Name: "x", Email: "no"}}, []Entry{{Name: "ann"}}, swiss).Changes)
	require.Equal(t, Add, only(t, Compare(LDAP, nil, nil, []Entry{{Name: "pager"}}, swiss)).Kind)
}

func TestEntriesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	p := Compare(LDAP, nil, []Entry{
		{Name: "", Email: "x@example.com"}, {Name: "a b", Email: "x@example.com"}, {Name: "a/b", Email: "x@example.com"}, {Name: "a\x00", Email: "x@example.com"},
		{Name: "service"}, {Name: "ann", Email: "ann@example.com"}, {Name: "ANN", Email: "ann2@example.com"},
	}, nil, swiss)
	require.Equal(t, "ann@example.com", only(t, p).Contacts[users.Email])
	require.Len(t, p.Problems, 6)
	require.Len(t, Compare(Slack, nil, []Entry{{Name: "ann", SlackName: "ann"}}, nil, swiss).Changes, 1, "Slack may keep addresses to itself")
}

func TestDetailHasNoContacts(t *testing.T) {
	t.Parallel()
	c := Change{FullName: str("Ann"), Contacts: map[users.Mode]string{users.SMS: "+41791234567", users.Email: ""}}
	require.Equal(t, "full name, no email, sms", c.Detail())
}

func TestRenamesNeedAFreeName(t *testing.T) {
	t.Parallel()
	ann := Known{User: users.User{ID: 1, Name: "ann", Active: true}, Source: LDAP, Stable: "4"}
	renamed := Entry{Name: "bob", Stable: "4"} // an entry without an e-mail address is not used
	p := Compare(LDAP, []Known{ann}, []Entry{{Name: "ann", Email: "ann@example.com"}, renamed}, nil, swiss)
	require.Empty(t, p.Changes)
	require.Contains(t, p.Problems, Problem{Name: "ann", Text: nameTaken})

	renamed.Email = "bob@example.com"
	p = Compare(LDAP, []Known{ann}, []Entry{{Name: "ann", Email: "ann@example.com"}, renamed}, nil, swiss)
	require.Len(t, p.Changes, 2)
	require.Equal(t, "bob", p.Changes[0].Rename)
	require.Equal(t, Add, p.Changes[1].Kind)
}

// For random directories: after the changes are applied, Compare finds no further change. People who were never in the directory stay
// active.
func TestCompareFindsNothingAfterItsChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.Custom(func(t *rapid.T) Entry {
			return Entry{
				Name:   rapid.SampledFrom([]string{"ann", "bob", "Bob", "cy", "", "d d", "hand"}).Draw(t, "name"),
				Stable: rapid.SampledFrom([]string{"", "1", "2", "3", "4"}).Draw(t, "stable"),
				Email:  rapid.SampledFrom([]string{"", "a@example.com", "b@example.com", "none"}).Draw(t, "email"),
				Phone:  rapid.SampledFrom([]string{"", "079 123 45 67", "+15551234567", "?"}).Draw(t, "phone"), FullName: rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "full"),
			}
		})
		here := []Known{{User: users.User{ID: 1, Name: "hand", Active: true}, Contacts: map[users.Mode]string{}}}
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			entries := rapid.SliceOfN(entry, 0, 5).Draw(t, "entries")
			before := map[string]users.ID{}
			for _, k := range here {
				before[k.Stable] = k.ID
			}
			here = made(here, Compare(LDAP, here, entries, nil, swiss).Changes)
			for _, k := range here {
				if id := before[k.Stable]; k.Stable != "" && id != 0 {
					require.Equal(t, id, k.ID, "%q became another person", k.Stable)
				}
			}
			require.Empty(t, Compare(LDAP, here, entries, nil, swiss).Changes, "a second comparison changes nothing")
			require.True(t, here[0].Active || here[0].Source != "", "a person who never was in the directory stays on")
		}
	})
}

// made applies changes as the store does.
func made(here []Known, changes []Change) []Known {
	for _, c := range changes {
		i := int(c.ID) - 1
		if c.Kind == Add {
			i = len(here)
			here = append(here, Known{User: users.User{ID: users.ID(i + 1), Name: c.Name, Active: true}, Contacts: map[users.Mode]string{}})
		}
		k := here[i]
		if k.Source != c.Source {
			k.Stable = ""
		}
		k.Source, k.SwitchedOff, k.Stable = c.Source, c.Kind == SwitchOff, cmp.Or(c.Stable, k.Stable)
		k.Name = cmp.Or(c.Rename, k.Name)
		for other, o := range here {
			if other != i && fold(o.Name) == fold(k.Name) {
				panic("the name is taken: " + k.Name)
			}
		}
		if c.Kind == SwitchOn || c.Kind == SwitchOff {
			k.Active = c.Kind == SwitchOn
		}
		if c.FullName != nil {
			k.FullName = *c.FullName
		}
		if c.PhotoURL != nil {
			k.PhotoURL = *c.PhotoURL
		}
		for mode, destination := range c.Contacts {
			if k.Contacts[mode] = destination; destination == "" {
				delete(k.Contacts, mode)
			}
		}
		if c.Given != nil {
			k.Given = c.Given
		}
		here[i] = k
	}
	return here
}

func TestLists(t *testing.T) {
	t.Parallel()
	entries := []Entry{{Ref: "uid=ann,dc=x", Name: "ann"}, {Ref: "uid=bob,dc=x", Name: "bob"}}
	ops := List{Name: "Ops", Members: []string{"UID=bob,dc=x", "uid=ann,dc=x", "cn=printer,dc=x"}, Size: 3}
	require.Equal(t, []ListChange{{Kind: Add, Name: "Ops", Size: 3, Members: []string{"ann", "bob"}}}, CompareLists(nil, []List{ops}, entries).Changes)
	have := KnownList{ID: 4, Name: "ops", Active: true, Size: 3, Members: []string{"ann", "Bob"}, Synced: true}
	require.Empty(t, CompareLists([]KnownList{have}, []List{ops}, entries).Changes)
	for want, change := range map[Kind]func(*KnownList){
		Update: func(k *KnownList) { k.Members = []string{"ann", "cy"} }, Adopt: func(k *KnownList) { k.Synced = false }, SwitchOn: func(k *KnownList) { k.Active = false },
	} {
		k := have
		change(&k)
		p := CompareLists([]KnownList{k}, []List{ops}, entries)
		require.Equal(t, []ListChange{{Kind: want, ID: 4, Name: "ops", Size: 3, Members: []string{"ann", "bob"}}}, p.Changes)
	}
	p := CompareLists([]KnownList{have, {ID: 5, Name: "by hand", Active: true, Members: []string{"ann"}}}, []List{{Name: " "}, {Name: "x"}, {Name: "X"}}, entries)
	require.Equal(t, []ListChange{{Kind: SwitchOff, ID: 4, Name: "ops"}, {Kind: Add, Name: "x"}}, p.Changes, "lists that the directory never had are left alone")
	require.Len(t, p.Problems, 2)
	require.Equal(t, [4]int{1, 1, 2, 2}, [4]int{p.Synced, p.Gone, p.Members, p.Lost})
}

func many(n int, prefix string) (entries []Entry, known []Known) {
	for i := range n {
		name := fmt.Sprintf("%s%d", prefix, i)
		entries = append(entries, Entry{Ref: name, Name: name, Email: name + "@example.com"})
		known = append(known, Known{User: users.User{ID: users.ID(i + 1), Name: name, Active: true}, Source: LDAP})
	}
	return entries, known
}

// The stable id of the directory identifies a person whose name changes.
func TestRenamedPeopleStayTheSamePerson(t *testing.T) {
	t.Parallel()
	person := func(id users.ID, name, stable string) Known {
		return Known{User: users.User{ID: id, Name: name, Active: true}, PhotoURL: "x", Source: Slack, Stable: stable, Contacts: map[users.Mode]string{}, Given: map[users.Mode]string{}}
	}
	entry := func(name, stable string) Entry { return Entry{Ref: stable, Name: name, Stable: stable} }
	type short struct {
		kind   Kind
		id     users.ID
		name   string
		rename string
	}
	for name, tc := range map[string]struct {
		here     []Known
		there    []Entry
		want     []short
		problems int
	}{
		"renamed":                               {[]Known{person(1, "ann", "A")}, []Entry{entry("anna", "A")}, []short{{Update, 1, "ann", "anna"}}, 0},
		"only its case":                         {[]Known{person(1, "ann", "A")}, []Entry{entry("Ann", "A")}, nil, 0},
		"and somebody new has the name":         {[]Known{person(1, "ann", "A")}, []Entry{entry("ann", "B"), entry("anna", "A")}, []short{{Update, 1, "ann", "anna"}, {Add, 0, "ann", ""}}, 0},
		"one after the other":                   {[]Known{person(1, "a", "A"), person(2, "b", "B")}, []Entry{entry("b", "A"), entry("c", "B")}, []short{{Update, 2, "b", "c"}, {Update, 1, "a", "b"}}, 0},
		"in a circle":                           {[]Known{person(1, "a", "A"), person(2, "b", "B")}, []Entry{entry("b", "A"), entry("a", "B")}, nil, 2},
		"to the name of a stranger":             {[]Known{person(1, "a", "A"), {User: users.User{ID: 2, Name: "b", Active: true}}}, []Entry{entry("b", "A")}, nil, 1},
		"to a name that cannot be used":         {[]Known{person(1, "a", "A")}, []Entry{entry("a b", "A")}, nil, 1},
		"an account that was made again":        {[]Known{person(1, "a", "A")}, []Entry{entry("a", "B")}, []short{{Adopt, 1, "a", ""}}, 1},
		"who came before ids were kept":         {[]Known{person(1, "a", "")}, []Entry{entry("a", "A")}, []short{{Adopt, 1, "a", ""}}, 0},
		"an id that several have says nothing":  {[]Known{person(1, "a", "A")}, []Entry{entry("b", "A"), entry("a", "A")}, []short{{Add, 0, "b", ""}}, 2},
		"back under another name":               {[]Known{func() Known { k := person(1, "a", "A"); k.Active, k.SwitchedOff = false, true; return k }()}, []Entry{entry("b", "A")}, []short{{SwitchOn, 1, "a", "b"}}, 0},
		"another directory's ids are not these": {[]Known{func() Known { k := person(1, "a", "A"); k.Source = LDAP; return k }()}, []Entry{entry("b", "A")}, []short{{Add, 0, "b", ""}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compare(Slack, tc.here, tc.there, nil, Rules{Slack: SlackNone})
			var got []short
			for _, c := range p.Changes {
				got = append(got, short{c.Kind, c.ID, c.Name, c.Rename})
			}
			require.Equal(t, tc.want, got)
			require.Len(t, p.Problems, tc.problems, "%v", p.Problems)
		})
	}
	p := Compare(Slack, []Known{person(1, "a", "A"), {User: users.User{ID: 2, Name: "b", Active: true}}}, []Entry{entry("b", "A")}, nil, Rules{Slack: SlackNone})
	list := CompareLists(nil, []List{{Name: "ops", Members: []string{"A"}}}, p.People).Changes[0]
	require.Equal(t, []string{"a"}, list.Members, "who keeps the name is meant, not who has the new one here")
}

func TestCompareLoginRefusesNamesOfOtherPeople(t *testing.T) {
	t.Parallel()
	e, k := ann()
	e.Stable, k.Stable = "A", "A"
	c, err := CompareLogin(LDAP, []Known{k}, e, swiss)
	require.NoError(t, err)
	require.Empty(t, c.Kind)
	e.Name = "anna"
	c, err = CompareLogin(LDAP, []Known{k}, e, swiss)
	require.NoError(t, err)
	require.Equal(t, "anna", c.Rename)
	other := Known{User: users.User{ID: 8, Name: "anna", Active: true}, Source: LDAP, Stable: "B"}
	_, err = CompareLogin(LDAP, []Known{k, other}, e, swiss)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	e.Name, e.Stable = "ann", "C" // the name of Ann, whose stable id is unknown
	c, err = CompareLogin(LDAP, []Known{k}, e, swiss)
	require.NoError(t, err)
	require.Equal(t, "C", c.Stable, "where nobody is synced the name decides")
	synced := swiss
	synced.Synced = true
	_, err = CompareLogin(LDAP, []Known{k}, e, synced)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}
