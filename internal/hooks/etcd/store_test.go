package etcd_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/hooks"
	hooksetcd "carillon/internal/hooks/etcd"
	"carillon/internal/secrets/crypt"
)

var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

var ann = common.Actor{Name: "ann", Remote: "192.0.2.7"}

// world is a store with a job.
type world struct {
	*testing.T
	*hooksetcd.Store
	client *clientv3.Client
	key    string // that encrypts
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, client: shared.Start(t), key: crypt.NewKey()}
	w.Store = w.over(w.key)
	w.job("deploy", "aaaaaaaaaaaaaaaa")
	return w
}

func (w *world) over(keys ...string) *hooksetcd.Store {
	w.Helper()
	var box *crypt.Box
	if len(keys) > 0 {
		var err error
		if box, err = crypt.Parse(strings.Join(keys, " ")); err != nil {
			w.Fatal(err)
		}
	}
	return hooksetcd.New(w.client, box, time.Now, func() {})
}

func (w *world) job(name, uid string) {
	w.Helper()
	job := common.StoredJob{UID: uid, Job: common.Job{Name: name, Command: "true",
		Params: common.Params{"REF": {Pattern: "[a-z]+"}}}}
	data, err := common.EncodeOver(nil, &job)
	if err == nil {
		_, err = w.client.Put(w.Context(), common.JobKey(name), string(data))
	}
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) code(what string, err error, want common.Code) {
	w.Helper()
	if err == nil || common.CodeOf(err) != want {
		w.Errorf("%s: %v, want %s", what, err, want)
	}
}

// stored returns all of etcd as one text.
func (w *world) stored(prefix string) string {
	w.Helper()
	resp, err := w.client.Get(w.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		w.Fatal(err)
	}
	var b strings.Builder
	for _, kv := range resp.Kvs {
		fmt.Fprintf(&b, "%s %s\n", kv.Key, kv.Value)
	}
	return b.String()
}

func (w *world) opens(key string) (hooks.Hook, error) {
	w.Helper()
	k, ok := hooks.ParseKey(key)
	if !ok {
		w.Fatalf("%q is no key", key)
	}
	return w.Find(w.Context(), k)
}

var none = common.Precondition{}

func TestHook_CreatedChangedRotatedDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	fixed := "main"
	wanted := hooks.HookDefinition{Params: map[string]hooks.HookSource{"REF": {Value: &fixed}},
		Signature: hooks.GitHub, Rate: 5}
	made, shown, err := w.Create(ctx, ann, "deploy", "push", none, wanted)
	if err != nil || made.Version == 0 || made.Name != "push" || made.Job != "deploy" || made.UpdatedBy != "ann" ||
		made.CreatedAt.IsZero() || !strings.HasPrefix(shown.Key, "crnh_") || len(shown.Secret) < 32 {
		t.Fatalf("%+v, %+v: %v", made, shown, err)
	}
	if plain, err := w.Secret(&made); err != nil || string(plain) != shown.Secret {
		t.Errorf("the secret is %q: %v", plain, err)
	}
	for _, secret := range []string{shown.Key, shown.Key[len(shown.Key)-52:], shown.Secret} {
		if strings.Contains(w.stored("/cron/"), secret) {
			t.Error("etcd holds a secret in the clear")
		}
	}
	if found, err := w.opens(shown.Key); err != nil || found.ID != made.ID {
		t.Errorf("%+v: %v", found, err)
	}
	_, err = w.opens(hooks.NewKey(made.JobUID).Reveal())
	w.code("another key of the job", err, common.CodeNotFound)
	_, _, err = w.Create(ctx, ann, "deploy", "push", none, wanted)
	w.code("again", err, common.CodeExists)
	_, _, err = w.Create(ctx, ann, "deploy", "../x", none, wanted)
	w.code("a name", err, common.CodeInvalid)
	_, _, err = w.Create(ctx, ann, "none", "push", none, wanted)
	w.code("no job", err, common.CodeNotFound)
	_, _, err = w.Create(ctx, ann, "deploy", "b", common.Precondition{Version: 1 << 40}, wanted)
	w.code("another version of the job", err, common.CodeStale)

	// A change without a secret keeps it, and the key.
	wanted.Rate = 7
	changed, again, err := w.Change(ctx, ann, "deploy", "push", none, 0, wanted)
	if err != nil || changed.Rate != 7 || again != (hooks.Shown{}) || changed.Version == made.Version {
		t.Errorf("%+v, %+v: %v", changed, again, err)
	}
	if plain, err := w.Secret(&changed); err != nil || string(plain) != shown.Secret {
		t.Errorf("the secret is %q: %v", plain, err)
	}
	same, _, err := w.Change(ctx, ann, "deploy", "push", none, 0, wanted)
	if err != nil || same.Version != changed.Version {
		t.Errorf("without a difference: %+v: %v", same, err)
	}

	// A change of a version that is no longer the current one is refused.
	_, _, err = w.Change(ctx, ann, "deploy", "push", none, made.Version, hooks.HookDefinition{})
	w.code("another version", err, common.CodeStale)
	if same, _, err = w.Change(ctx, ann, "deploy", "push", none, changed.Version, wanted); err != nil ||
		same.Signature != hooks.GitHub {
		t.Errorf("of its version: %+v: %v", same, err)
	}

	rotated, next, err := w.Rotate(ctx, ann, "deploy", "push", none, true)
	if err != nil || next.Key == shown.Key || next.Secret == "" || next.Secret == shown.Secret ||
		rotated.ID != made.ID || rotated.RotatedAt.IsZero() {
		t.Errorf("%+v, %+v: %v", rotated, next, err)
	}
	_, err = w.opens(shown.Key)
	w.code("the old key", err, common.CodeNotFound)
	if found, err := w.opens(next.Key); err != nil || found.Rate != 7 {
		t.Errorf("%+v: %v", found, err)
	}
	if err := w.Delete(ctx, ann, "deploy", "push", none); err != nil {
		t.Fatal(err)
	}
	_, err = w.opens(next.Key)
	w.code("after the deletion", err, common.CodeNotFound)
	w.code("deleted again", w.Delete(ctx, ann, "deploy", "push", none), common.CodeNotFound)

	// The audit has each of these changes, without a secret or its hash.
	entries := w.stored(common.ChangesPrefix)
	for _, verb := range []string{"create", "replace", "rotate", "delete"} {
		if n := strings.Count(entries, `"verb":"`+verb+`","kind":"hook","name":"deploy/push"`); n != 1 {
			t.Errorf("%d entries of %s: %s", n, verb, entries)
		}
	}
	for _, word := range []string{"crnh_", made.Hash, rotated.Hash, rotated.Sealed, shown.Secret, next.Secret} {
		if strings.Contains(entries, word) {
			t.Errorf("the audit contains %q", word)
		}
	}
}

func TestHook_Faults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := func(s string) *string { return &s }
	for at, d := range map[string]hooks.HookDefinition{
		"params.NONE":         {Params: map[string]hooks.HookSource{"NONE": {Path: "$.a"}}},
		"params.REF":          {Params: map[string]hooks.HookSource{"REF": {}}},
		"params.REF ":         {Params: map[string]hooks.HookSource{"REF": {Path: "$.a", Field: "a"}}},
		"params.REF  ":        {Params: map[string]hooks.HookSource{"REF": {Value: text("UPPER")}}},
		"params.REF.path":     {Params: map[string]hooks.HookSource{"REF": {Path: "ref"}}},
		"params.REF.path ":    {Params: map[string]hooks.HookSource{"REF": {Path: "$..ref"}}},
		"params.REF.field":    {Params: map[string]hooks.HookSource{"REF": {Field: "a\nb"}}},
		"params.REF.optional": {Params: map[string]hooks.HookSource{"REF": {Value: text("a"), Optional: true}}},
		"rate":                {Rate: hooks.MaxRate + 1},
		"rate ":               {Rate: -1},
		"signature":           {Signature: "none"},
		"secret":              {Signature: hooks.GitLab, Secret: "short"},
		"secret ":             {Signature: hooks.GitLab, Secret: "with a space"},
		"secret  ":            {Secret: "without a signature"},
		"header":              {Signature: hooks.GitLab, Header: "X Y"},
		"header ":             {Header: "X-Y"},
	} {
		_, _, err := w.Create(t.Context(), ann, "deploy", "a", none, d)
		w.code(at, err, common.CodeInvalid)
		faults := err.(*common.Error).Faults
		if len(faults) != 1 || faults[0].Location != strings.TrimSpace(at) {
			t.Errorf("%s: %+v", at, faults)
		}
	}
	if got := w.stored(common.HooksPrefix); got != "" {
		t.Errorf("stored: %s", got)
	}
}

func TestHooks_AreLimitedPerJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.job("other", "bbbbbbbbbbbbbbbb")
	for i := range hooks.MaxHooks {
		_, _, err := w.Create(t.Context(), ann, "deploy", fmt.Sprint("h", i), none, hooks.HookDefinition{})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := w.Create(t.Context(), ann, "deploy", "more", none, hooks.HookDefinition{})
	w.code("one too many", err, common.CodeConflict)
	if _, _, err := w.Create(t.Context(), ann, "other", "a", none, hooks.HookDefinition{}); err != nil {
		t.Error(err)
	}
	if all, err := w.Hooks(t.Context(), "bbbbbbbbbbbbbbbb"); err != nil || len(all) != 1 {
		t.Errorf("%+v: %v", all, err)
	}
}

func TestHook_Secret_NeedsTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signed := hooks.HookDefinition{Signature: hooks.GitLab, Secret: "a-secret-of-gitlab"}
	_, _, err := w.over().Create(t.Context(), ann, "deploy", "a", none, signed)
	w.code("without a key", err, common.CodeConflict)
	h, shown, err := w.Create(t.Context(), ann, "deploy", "a", none, signed)
	if err != nil || shown.Secret != "" {
		t.Fatalf("%+v: %v", shown, err)
	}
	next := crypt.NewKey()
	_, err = w.over(next).Secret(&h)
	w.code("with another key", err, common.CodeUnavailable)
	if e := err.(*common.Error); strings.Contains(e.Message+e.Hint, "hook \"a\"") ||
		!strings.Contains(e.Error(), `hook "a" of job "deploy"`) {
		t.Errorf("%q, of which senders see %q", e.Error(), e.Message)
	}
	_, err = w.over(next).Reseal(t.Context(), ann)
	w.code("reseal with another key", err, common.CodeConflict)
	for _, want := range []int{1, 0} {
		if n, err := w.over(next, w.key).Reseal(t.Context(), ann); n != want || err != nil {
			t.Errorf("%d encrypted again, want %d: %v", n, want, err)
		}
	}
	if all, err := w.Hooks(t.Context(), h.JobUID); err != nil || len(all) != 1 {
		t.Errorf("%+v: %v", all, err)
	} else if plain, err := w.over(next).Secret(&all[0]); err != nil || string(plain) != signed.Secret {
		t.Errorf("%q: %v", plain, err)
	}
}

// A damaged hook opens for no key, and can be deleted.
func TestHook_Damaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.client.Put(t.Context(), common.HookKey("aaaaaaaaaaaaaaaa", "a"), "{"); err != nil {
		t.Fatal(err)
	}
	_, err := w.opens(hooks.NewKey("aaaaaaaaaaaaaaaa").Reveal())
	w.code("a key", err, common.CodeNotFound)
	if err := w.Delete(t.Context(), ann, "deploy", "a", none); err != nil {
		t.Error(err)
	}
}
