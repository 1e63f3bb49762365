package access

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
)

const aPassword = "blue horse under a quiet bridge"

func TestPasswords(t *testing.T) {
	h := NewHasher()
	hash, err := h.Hash(t.Context(), aPassword)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(hash, aPassword) {
		t.Errorf("the hash is %s", hash)
	}
	if again, err := h.Hash(t.Context(), aPassword); err != nil || again == hash {
		t.Errorf("two hashes of a password are the same (%v)", err)
	}
	for _, c := range []struct {
		password, hash string
		want           bool
	}{
		{aPassword, hash, true},
		{aPassword + " ", hash, false},
		{"", hash, false},
		{aPassword, "", false},
		{"", "", false},
		{aPassword, hash[:len(hash)-1], false},
		{aPassword, strings.Replace(hash, "m=19456", "m=4194304", 1), false},
		{aPassword, strings.Replace(hash, "t=2", "t=200", 1), false},
		{aPassword, strings.Replace(hash, "argon2id", "argon2i", 1), false},
		{aPassword, strings.Replace(hash, "v=19", "v=16", 1), false},
	} {
		if good, err := h.Verify(t.Context(), c.password, c.hash); good != c.want || err != nil {
			t.Errorf("%q against %s: %v, %v", c.password, c.hash, good, err)
		}
	}
}

// Response times do not reveal which users exist: each check takes one hash of the same cost.
func TestUnknownUsersCostTheSame(t *testing.T) {
	h := NewHasher()
	var costs []cost
	h.derive = func(_, _ []byte, c cost) []byte {
		costs = append(costs, c)
		return make([]byte, keyBytes)
	}
	hash, err := h.Hash(t.Context(), aPassword)
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range []string{hash, "", "rubbish", strings.Replace(hash, "t=2", "t=9999", 1)} {
		costs = nil
		good, err := h.Verify(t.Context(), aPassword, stored)
		if err != nil || len(costs) != 1 || costs[0] != usual {
			t.Errorf("against %q: %v, work %v", stored, err, costs)
		}
		if good != (stored == hash) {
			t.Errorf("against %q: %v", stored, good)
		}
	}
	if good, _ := h.Verify(t.Context(), strings.Repeat("a", MaxPassword+1), ""); good || len(costs) != 2 {
		t.Errorf("a password that is too long: %v, work %v", good, costs)
	}
}

func TestHasher_LimitsConcurrentHashes(t *testing.T) {
	h := NewHasher()
	h.wait = 10 * time.Millisecond
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	var most, now atomic.Int32
	h.derive = func(_, _ []byte, _ cost) []byte {
		most.Store(max(most.Load(), now.Add(1)))
		entered <- struct{}{}
		<-leave
		now.Add(-1)
		return make([]byte, keyBytes)
	}
	done := make(chan error)
	for range hashesAtOnce {
		go func() {
			_, err := h.Hash(context.Background(), aPassword)
			done <- err
		}()
		<-entered
	}
	if _, err := h.Verify(t.Context(), aPassword, ""); common.CodeOf(err) != common.CodeTooMany {
		t.Errorf("one too many: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Verify(over, aPassword, ""); err == nil || common.CodeOf(err) == common.CodeTooMany {
		t.Errorf("a caller that was cancelled: %v", err)
	}
	close(leave)
	for range hashesAtOnce {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != hashesAtOnce {
		t.Errorf("%d at a time", most.Load())
	}
	if _, err := h.Hash(t.Context(), aPassword); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestUserChange_Faults(t *testing.T) {
	for _, c := range []struct {
		name   string
		wanted UserChange
		wrong  []string
	}{
		{"ann", UserChange{}, nil},
		{"ann", UserChange{
			Role:     new(Editor),
			Password: new(aPassword),
			Groups:   &map[string]Role{"reports": Viewer},
		}, nil},
		{"ann", UserChange{Role: new(Role("")), Password: new("")}, nil},
		{"ann", UserChange{Role: new(Role("root"))}, []string{"role"}},
		{"ann", UserChange{Groups: &map[string]Role{
			"Re ports": Viewer,
			"billing":  "owner",
			"":         Viewer,
		}}, []string{"groups", "groups", "groups.billing"}},
		{"ann", UserChange{Title: new(strings.Repeat("安", 201))}, []string{"title"}},
		{"ann", UserChange{Password: new("short pass.")}, []string{"password"}},
		{"ann", UserChange{Password: new("密码密码密码密码密码密")}, []string{"password"}},
		{"ann", UserChange{Password: new(strings.Repeat("ab", 20))}, []string{"password"}},
		{"ann", UserChange{Password: new(strings.Repeat("abcdefgh", 129))}, []string{"password"}},
		{"ann", UserChange{Password: new("a password\x00 of mine")}, []string{"password"}},
		{"ann", UserChange{Password: new("a password \xff of mine")}, []string{"password"}},
		{"annabel-longname", UserChange{Password: new("Annabel-Longname")}, []string{"password"}},
	} {
		var at []string
		for _, f := range c.wanted.Faults(c.name) {
			at = append(at, f.Location)
			if strings.Contains(f.Message, "bridge") || f.Code == "" || f.Code == "password" && f.Value != nil {
				t.Errorf("a fault reveals too much or too little: %+v", f)
			}
		}
		if !slices.Equal(at, c.wrong) {
			t.Errorf("%+v: faults at %q, want %q", c.wanted, at, c.wrong)
		}
	}
}

// The epoch changes with what the sessions depend on, and only then.
func TestEpoch_ChangesWithPasswordAndRights(t *testing.T) {
	begin := UserRecord{Name: "ann", Role: Editor, Groups: map[string]Role{"a": Viewer}, Password: "h", Epoch: "e"}
	for _, c := range []struct {
		wanted  UserChange
		changed bool
		over    bool
	}{
		{UserChange{}, false, false},
		{UserChange{Title: new("Ann")}, true, false},
		{UserChange{Role: new(Editor), Groups: &map[string]Role{"a": Viewer}, Disabled: new(false)}, false, false},
		{UserChange{Role: new(Viewer)}, true, true},
		{UserChange{Groups: &map[string]Role{"a": Editor}}, true, true},
		{UserChange{Groups: &map[string]Role{}}, true, true},
		{UserChange{Disabled: new(true)}, true, true},
		{UserChange{Password: new("x")}, true, true},
	} {
		u := begin
		if changed := c.wanted.Apply(&u, "another"); changed != c.changed || (u.Epoch != "e") != c.over {
			t.Errorf("%+v: changed %v, epoch %s", c.wanted, changed, u.Epoch)
		}
	}
	off := begin
	off.Disabled = true
	if (&UserChange{Disabled: new(false)}).Apply(&off, ""); off.Epoch != "e" || off.Disabled {
		t.Errorf("enabled again: %+v", off)
	}
}

func TestGoverns_EnabledAdminsOnly(t *testing.T) {
	now := time.Now()
	full := UserRecord{Role: Admin, Password: "h"}
	for _, u := range []UserRecord{{Role: Admin}, {Role: Editor, Password: "h"},
		{Role: Admin, Password: "h", Disabled: true},
		{Password: "h", Groups: map[string]Role{"a": Admin}}} {
		if u.Governs() {
			t.Errorf("%+v governs", u)
		}
	}
	token := TokenRecord{Role: Admin}
	for _, r := range []TokenRecord{{Role: Editor}, {Role: Admin, UserID: "u"}, {Role: Admin, Groups: []string{"a"}},
		{Role: Admin, ExpiresAt: now}} {
		if r.Governs(now) {
			t.Errorf("%+v governs", r)
		}
	}
	if !full.Governs() || !token.Governs(now) {
		t.Error("an admin does not govern")
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2E$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$v=19$m=4294967295,t=1,p=255$$")
	f.Fuzz(func(t *testing.T, text string) {
		if c, salt, key, err := parseHash(text); err == nil &&
			(c.memory > maxMemory || c.passes > maxPasses || c.threads == 0 || len(salt) == 0 || len(key) != keyBytes) {
			t.Errorf("%q is taken for a hash of cost %+v", text, c)
		}
	})
}
