package auth

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

func TestSealedValuesAreBoundToTheirOwner(t *testing.T) {
	t.Parallel()
	k, err := NewKeys(make([]byte, SecretSize))
	require.NoError(t, err)
	sealed := k.Seal([]byte("demo-key"), "application 1 primary")
	require.NotContains(t, string(sealed), "demo-key")
	require.NotEqual(t, sealed, k.Seal([]byte("demo-key"), "application 1 primary"))

	plain, err := k.Unseal(sealed, "application 1 primary")
	require.NoError(t, err)
	require.Equal(t, "demo-key", string(plain))

	_, err = k.Unseal(sealed, "application 2 primary")
	require.ErrorIs(t, err, ErrSealed)
	for i := range sealed {
		broken := append([]byte(nil), sealed...)
		broken[i] ^= 1
		_, err = k.Unseal(broken, "application 1 primary")
		require.ErrorIs(t, err, ErrSealed)
	}
	_, err = k.Unseal(nil, "application 1 primary")
	require.ErrorIs(t, err, ErrSealed)

	_, err = NewKeys([]byte("short"))
	require.Error(t, err)
	require.Len(t, k.Gossip(), 32)
	require.NotEqual(t, k.Gossip(), k.links)
}

func TestWrapSecret(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", SecretSize))
	key := strings.Repeat("k", MinSecretKey)
	wrapped, err := WrapSecret(key, secret)
	require.NoError(t, err)
	got, err := UnwrapSecret(key, wrapped)
	require.NoError(t, err)
	require.Equal(t, secret, got)
	_, err = UnwrapSecret(key+"x", wrapped)
	require.ErrorIs(t, err, ErrSealed)
	_, err = WrapSecret("short", secret)
	require.Equal(t, fault.Invalid, fault.KindOf(err))
}

func TestNewApplicationKey(t *testing.T) {
	t.Parallel()
	require.Regexp(t, "^[0-9a-f]{64}$", NewApplicationKey())
	one, other := NewApplicationKey(), NewApplicationKey()
	require.NotEqual(t, one, other)
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	hash, err := p.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"), hash)
	check := func(hash, password string) bool {
		ok, err := p.Check(t.Context(), hash, password)
		require.NoError(t, err)
		return ok
	}
	require.True(t, check(hash, "correct horse"))
	require.False(t, check(hash, "Correct horse"))
	require.False(t, check(hash, ""))
	for _, broken := range []string{"", "x", hash[:len(hash)-1], "$argon2id$v=19$m=19456,t=2,p=1$$", p.decoy[:20]} {
		require.False(t, check(broken, "correct horse"), broken)
		require.False(t, check(broken, ""), broken)
	}
	require.False(t, check(hash, strings.Repeat("x", maxPassword+1)))
	_, err = p.Hash(t.Context(), "")
	require.Equal(t, fault.Invalid, fault.KindOf(err))

	require.NoError(t, CheckNewPassword("12345678"))
	require.Error(t, CheckNewPassword("1234567"))
	require.Error(t, CheckNewPassword(strings.Repeat("x", maxPassword+1)))
}

func TestPasswordsWaitForASlot(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := p.Check(ctx, "", "x")
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
	})
	cancel()
	wg.Wait()

	// 200 log-ins at once made the last one wait 47 s.
	p.wait = time.Millisecond
	_, err := p.Check(t.Context(), "", "x")
	require.ErrorIs(t, err, ErrBusy)
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Positive(t, f.RetryAfter)
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	plain := Through(Application{ID: 1, Name: "demo"})
	trusted := Through(Application{ID: 2, Name: "trusted", AllowAuthenticatingUsers: true})
	iris := Through(Application{ID: 3, Name: "iris", AllowAuthenticatingUsers: true, AllowOtherAppIncidents: true})
	ann := iris.As(users.User{ID: 1, Name: "ann", Active: true})
	root := iris.As(users.User{ID: 2, Name: "root", Admin: true, Active: true})
	gone := iris.As(users.User{ID: 3, Name: "gone", Admin: true})
	reader := iris.As(users.User{ID: 4, Name: "reader", ReadOnly: true, Active: true})
	lead := iris.As(users.User{ID: 5, Name: "lead", Active: true})
	lead.TeamAdminOf, lead.Owns = []int64{7}, []int64{9}

	called := func(name string) users.User {
		ids := map[string]users.ID{"ann": 1, "root": 2, "gone": 3, "reader": 4, "lead": 5, "bob": 6}
		return users.User{ID: ids[strings.ToLower(name)], Name: name}
	}
	for _, c := range []struct {
		actor Actor
		open  Openings
		name  string
		want  bool
	}{
		{plain, Openings{}, "ann", false},
		{trusted, Openings{}, "ann", true},
		{ann, Openings{}, "ANN", true},
		{ann, Openings{}, "bob", false},
		{ann, Openings{SessionsActForAnyone: true}, "bob", true},
		{plain, Openings{SessionsActForAnyone: true}, "bob", false},
		{root, Openings{}, "bob", true},
		{gone, Openings{}, "bob", false},
		{gone, Openings{}, "gone", false},
		{reader, Openings{}, "reader", false},
		{reader, Openings{SessionsActForAnyone: true}, "bob", false},
		{Actor{}, Openings{SessionsActForAnyone: true}, "", false},
	} {
		require.Equal(t, c.want, c.actor.MayActAs(called(c.name), c.open), "%+v as %s", c.actor, c.name)
	}
	require.True(t, plain.Caller(Openings{ChangeAnyPlan: true}).AnyVersion)
	require.False(t, reader.Caller(Openings{ChangeAnyPlan: true}).AnyVersion)
	both := Actor{ApplicationID: 1, UserID: 2, Username: "ann", Admin: true, ReadOnly: true}.Caller(Openings{})
	require.Equal(t, operation.Reader, both.Role)
	require.True(t, both.ReadOnlyAdmin)
	require.False(t, Actor{}.Caller(Openings{ChangeAnyPlan: true}).AnyVersion)

	require.ErrorIs(t, Actor{}.MaySelf(called("ann")), users.ErrUsernameNeeded)
	require.ErrorIs(t, plain.MaySelf(called("ann")), users.ErrAppUserPower)
	require.NoError(t, trusted.MaySelf(called("ann")))
	require.NoError(t, ann.MaySelf(called("Ann")))
	require.ErrorIs(t, ann.MaySelf(called("bob")), operation.ErrNotThisUser)
	require.NoError(t, root.MaySelf(called("bob")))
	require.NoError(t, reader.MaySelf(called("reader")))

	require.ErrorIs(t, Actor{}.MayRead(Openings{}), operation.ErrUnknown)
	require.NoError(t, Actor{}.MayRead(Openings{AnonymousReads: true}))
	require.NoError(t, reader.MayRead(Openings{}))
	require.ErrorIs(t, Actor{}.MayWrite(), operation.ErrUnknown)
	require.ErrorIs(t, reader.MayWrite(), operation.ErrReadOnly)
	require.NoError(t, plain.MayWrite())

	require.NoError(t, root.MayAdminister())
	require.ErrorIs(t, ann.MayAdminister(), operation.ErrAdminOnly)
	require.ErrorIs(t, gone.MayAdminister(), operation.ErrAdminOnly)
	owners := []users.ID{1, 3, 4}
	require.Contains(t, ann.Owning(1, owners, users.OwningTeam{}).Owns, int64(1))
	require.NotContains(t, lead.Owning(1, owners, users.OwningTeam{}).Owns, int64(1))
	require.False(t, reader.Owning(1, owners, users.OwningTeam{}).MayOpenAs(1))
	require.False(t, gone.Owning(1, owners, users.OwningTeam{}).MayOpenAs(1))
	require.Empty(t, Actor{Username: "ann", ApplicationID: 2}.Owning(1, owners, users.OwningTeam{}).Owns, "not known to us")
	require.NoError(t, plain.MayUseInternal([]string{"x", "DEMO"}))
	require.ErrorIs(t, plain.MayUseInternal(nil), ErrInternalOnly)
	require.ErrorIs(t, Actor{}.MayUseInternal([]string{""}), ErrInternalOnly)
	require.ErrorIs(t, ann.MayUseInternal([]string{"iris"}), ErrInternalOnly, "people are no programs")
	require.ErrorIs(t, Actor{ApplicationID: 3, Application: "iris", Session: true}.MayUseInternal([]string{"iris"}),
		ErrInternalOnly)
	require.True(t, plain.MayOpenAs(1))
	require.False(t, plain.MayOpenAs(8))
	require.True(t, ann.MayOpenAs(8))
	require.False(t, reader.MayOpenAs(3))
	require.False(t, Actor{}.MayOpenAs(0))

	require.Equal(t, "application demo", plain.String())
	require.Equal(t, "ann", ann.String())
	require.Equal(t, "nobody", Actor{}.String())
}
