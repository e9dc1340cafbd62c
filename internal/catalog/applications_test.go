package catalog_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// applicationStore has the application shop of ann, with keys, a quota and an incident address.
type applicationStore struct {
	catalog.ApplicationStore
	quota      applications.Quota
	plans      map[string]string
	categories []applications.Category
	change     applications.Change
	name       string
	rotated    bool
}

func (s *applicationStore) Describe(_ context.Context, name string) (applications.Application, error) {
	if !strings.EqualFold(name, s.name) {
		return applications.Application{}, fault.New(fault.NotFound, "no such application")
	}
	return applications.Application{ID: 1, Name: s.name, OwnerIDs: []users.ID{ann.ID}, Categories: s.categories}, nil
}

func (s *applicationStore) Key(context.Context, int64) (primary, secondary string, err error) {
	return "first", "", nil
}

func (s *applicationStore) AddSecondary(context.Context, int64, string) (string, error) {
	return "second", nil
}

func (s *applicationStore) Rekey(context.Context, int64, string) error {
	s.rotated = true
	return nil
}

func (s *applicationStore) Quota(context.Context, int64) (applications.Quota, error) {
	return s.quota, nil
}

func (s *applicationStore) SetQuota(_ context.Context, _ int64, q applications.Quota, _ string) error {
	s.quota = q
	return nil
}

func (s *applicationStore) SetCategories(_ context.Context, _ int64, all []applications.Category, _ string) error {
	s.categories = all
	return nil
}

func (s *applicationStore) IncidentEmails(context.Context, int64) (map[string]string, error) {
	return s.plans, nil
}

func (s *applicationStore) SetIncidentEmails(_ context.Context, _ int64, plans map[string]string, _ string) error {
	for address, plan := range plans {
		if plan == "none" {
			return fault.Invalidf(address, "there is no such plan")
		}
	}
	s.plans = plans
	return nil
}

func (s *applicationStore) Change(_ context.Context, _ int64, c applications.Change, _ string) error {
	s.change = c
	return nil
}

func (s *applicationStore) Rename(_ context.Context, _ int64, name, _ string) error {
	s.name = name
	return nil
}

// hourly has one incident of the application 1.
type hourly struct{}

func (hourly) Current(context.Context) (applications.Statistics, error) {
	out := applications.NewStatistics(time.Unix(7200, 0))
	out.Of(1).Incidents = applications.Weekly{3, 1}
	out.Of(1).Mode(users.SMS).Sent = applications.Weekly{5}
	return out, nil
}

func shop() (*catalog.Applications, *applicationStore) {
	store := &applicationStore{name: "shop"}
	return catalog.NewApplications(catalog.ApplicationDeps{Store: store, People: people{"ann": ann, "bob": bob},
		Statistics: applications.NewRecentStatistics(hourly{})}), store
}

var (
	ofShop  = catalog.OneApplication{Application: "SHOP"}
	byShop  = caller(auth.Actor{ApplicationID: 1, Application: "shop"})
	reading = caller(auth.Actor{UserID: 9, Username: "root", Admin: true, ReadOnly: true})
)

// refused sends an operation as callers who do not own the application. program is the refusal of its key.
func refused[In, Out any](t *testing.T, op operation.Op[In, Out], in In, program fault.Kind) {
	t.Helper()
	for _, c := range []struct {
		by   operation.Actor
		want fault.Kind
	}{{byBob, fault.Forbidden}, {byShop, program}, {reading, fault.Forbidden}, {operation.Actor{}, fault.Unauthenticated}} {
		_, err := op.Do(t.Context(), c.by, in)
		require.Equal(t, c.want, fault.KindOf(err), "%s by %s: %v", op.Name, c.by.Name, err)
	}
}

func TestOnlyOwnersSeeAndChangeKeys(t *testing.T) {
	t.Parallel()
	a, store := shop()
	refused(t, a.Key, ofShop, fault.Unauthenticated)
	refused(t, a.SecondaryKey, ofShop, fault.Unauthenticated)
	refused(t, a.AddSecondaryKey, ofShop, fault.Unauthenticated)
	refused(t, a.RotateKey, ofShop, fault.Unauthenticated)
	for _, by := range []operation.Actor{byAnn, byRoot} {
		found, err := a.Key.Do(t.Context(), by, ofShop)
		require.NoError(t, err)
		require.Equal(t, "first", found.Key)
		_, err = a.SecondaryKey.Do(t.Context(), by, ofShop)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		made, err := a.AddSecondaryKey.Do(t.Context(), by, ofShop)
		require.NoError(t, err)
		require.Equal(t, "second", made.Key)
	}
	require.False(t, store.rotated)
	_, err := a.RotateKey.Do(t.Context(), byAnn, ofShop)
	require.NoError(t, err)
	require.True(t, store.rotated)
	_, err = a.Key.Do(t.Context(), byBob, catalog.OneApplication{Application: "none"})
	require.ErrorIs(t, err, operation.ErrOwnerOnly, "as for an application that exists")
	_, err = a.Key.Do(t.Context(), byRoot, catalog.OneApplication{Application: "none"})
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

func TestAQuotaWarnsBeforeItDrops(t *testing.T) {
	t.Parallel()
	a, store := shop()
	edit := catalog.QuotaEdit{OneApplication: ofShop, Body: catalog.QuotaSettings{Hard: 10, HardSeconds: 60, Soft: 5,
		SoftSeconds: 120, Plan: "pager", Target: "ops", WaitSeconds: 90}}
	refused(t, a.ReplaceQuota, edit, fault.Forbidden)
	refused(t, a.RemoveQuota, ofShop, fault.Forbidden)
	saved, err := a.ReplaceQuota.Do(t.Context(), byAnn, edit)
	require.NoError(t, err)
	require.Equal(t, edit.Body, saved.QuotaSettings)
	require.Equal(t, 90*time.Second, store.quota.WaitAfterwards)
	edit.Body.Soft = 10
	_, err = a.ReplaceQuota.Do(t.Context(), byAnn, edit)
	require.ErrorIs(t, err, catalog.ErrThresholds)
	edit.Body.Soft, edit.Body.WaitSeconds = 0, 1<<40
	_, err = a.ReplaceQuota.Do(t.Context(), byAnn, edit)
	var wrong *fault.Error
	require.ErrorAs(t, err, &wrong)
	require.Len(t, wrong.Others, 1, "both numbers are out of their range: %v", err)
}

func TestIncidentAddressesNameTheWrongEntry(t *testing.T) {
	t.Parallel()
	a, store := shop()
	edit := func(pairs ...string) catalog.AddressEdit {
		out := catalog.AddressEdit{OneApplication: ofShop, Body: catalog.IncidentAddresses{Addresses: []catalog.IncidentAddress{}}}
		for i := 0; i+1 < len(pairs); i += 2 {
			out.Body.Addresses = append(out.Body.Addresses, catalog.IncidentAddress{Address: pairs[i], Plan: pairs[i+1]})
		}
		return out
	}
	refused(t, a.ReplaceAddresses, edit(), fault.Unauthenticated)
	saved, err := a.ReplaceAddresses.Do(t.Context(), byAnn, edit("b@example.com", "pager", " a@example.com ", "pager"))
	require.NoError(t, err)
	require.Equal(t, edit("a@example.com", "pager", "b@example.com", "pager").Body, saved)
	for field, wrong := range map[string]catalog.AddressEdit{
		"addresses[1].address": edit("a@example.com", "p", "A@example.com ", "p"),
		"addresses[0].address": edit("nowhere", "p"),
		"addresses[1].plan":    edit("a@example.com", "p", "b@example.com", "none"),
	} {
		_, err := a.ReplaceAddresses.Do(t.Context(), byAnn, wrong)
		require.Equal(t, field, fault.FieldOf(err), "%v", err)
	}
	require.Len(t, store.plans, 2, "all or nothing")
}

func TestAnApplicationSetsItsCategories(t *testing.T) {
	t.Parallel()
	a, _ := shop()
	edit := catalog.CategoryEdit{OneApplication: ofShop, Body: catalog.Categories{
		Categories: []catalog.Category{{Name: " news ", Mode: "SMS", Description: "What is new"}}}}
	for _, by := range []operation.Actor{byShop, byAnn, byRoot} {
		saved, err := a.ReplaceCategories.Do(t.Context(), by, edit)
		require.NoError(t, err, by.Name)
		require.Equal(t, []catalog.Category{{Name: "news", Mode: users.SMS, Description: "What is new"}}, saved.Categories)
	}
	for _, by := range []operation.Actor{byBob, reading, caller(auth.Actor{ApplicationID: 2, Application: "other"}),
		caller(auth.Actor{ApplicationID: 1, Application: "shop", UserID: bob.ID, Username: "bob"})} {
		_, err := a.ReplaceCategories.Do(t.Context(), by, edit)
		require.Equal(t, fault.Forbidden, fault.KindOf(err), by.Name)
	}
	edit.Body.Categories = []catalog.Category{{Name: "a", Mode: "fax"}, {Name: " A", Mode: "sms"}, {Mode: "sms"},
		{Name: strings.Repeat("x", 256), Mode: "sms"}}
	_, err := a.ReplaceCategories.Do(t.Context(), byAnn, edit)
	var wrong *fault.Error
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "categories[0].mode", wrong.Field)
	require.Len(t, wrong.Others, 3)
}

func TestAnApplicationGetsAnotherName(t *testing.T) {
	t.Parallel()
	a, _ := shop()
	rename := func(name string) catalog.Renaming {
		return catalog.Renaming{OneApplication: ofShop, Body: catalog.NewName{Name: name}}
	}
	refused(t, a.Rename, rename("store"), fault.Unauthenticated)
	_, err := a.Rename.Do(t.Context(), byAnn, rename(" shop "))
	require.ErrorIs(t, err, catalog.ErrSameName)
	renamed, err := a.Rename.Do(t.Context(), byAnn, rename("Shop"))
	require.NoError(t, err, "in another case")
	require.Equal(t, "Shop", renamed.Name)
}

func TestSettingsInTheFormOfV0KeepTheOwnerAndTheModes(t *testing.T) {
	t.Parallel()
	a, store := shop()
	change := applications.Change{Owners: &[]string{"bob"}, Modes: &[]users.Mode{users.Drop}}
	require.ErrorIs(t, a.Change(t.Context(), byBob, "shop", change), operation.ErrOwnerOnly)
	require.NoError(t, a.Change(t.Context(), byAnn, "shop", change))
	require.Equal(t, []string{"bob", "ann"}, *store.change.Owners)
	require.Nil(t, store.change.Modes)
	require.NoError(t, a.Change(t.Context(), byRoot, "shop", change))
	require.Equal(t, change, store.change)
}

func TestWeeklyFiguresBeginWithTheLastWeek(t *testing.T) {
	t.Parallel()
	a, _ := shop()
	found, err := a.Statistics.Do(t.Context(), byBob, ofShop)
	require.NoError(t, err)
	require.Len(t, found.Weeks, applications.Points)
	require.Equal(t, catalog.Week{Until: time.Unix(7200, 0).UTC(), Incidents: 3, AcknowledgeMedian: -1, Messages: 5}, found.Weeks[0])
	require.EqualValues(t, 1, found.Weeks[1].Incidents)
	require.Equal(t, found.Hour.Add(-applications.Week), found.Weeks[1].Until)
}
