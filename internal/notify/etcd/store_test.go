package etcd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/notify"
	notifyetcd "carillon/internal/notify/etcd"
	"carillon/internal/secrets/crypt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = common.Actor{Name: "ann"}

func newStore(t *testing.T) (*notifyetcd.Store, *clientv3.Client) {
	t.Helper()
	client := etcdtest.Start(t)
	return storeOver(t, client, crypt.NewKey()), client
}

func storeOver(t *testing.T, client *clientv3.Client, key string) *notifyetcd.Store {
	t.Helper()
	box, err := crypt.Parse(key)
	if err != nil {
		t.Fatal(err)
	}
	return notifyetcd.New(client, box, time.Now, func() {})
}

func hook(secret string) notify.ChannelDefinition {
	const url = "https://hooks.example.com/T0/canary"
	return notify.ChannelDefinition{Kind: notify.KindWebhook, URL: url, Secret: secret}
}

// everything returns all keys and values of etcd.
func everything(t *testing.T, client *clientv3.Client) string {
	t.Helper()
	resp, err := client.Get(t.Context(), common.Root, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, kv := range resp.Kvs {
		fmt.Fprintf(&all, "%s=%s\n", kv.Key, kv.Value)
	}
	return all.String()
}

func TestChannels(t *testing.T) {
	s, client := newStore(t)
	ctx := t.Context()
	c, secret, created, err := s.Save(ctx, ann, "ops", hook(""), common.Precondition{})
	if err != nil || !created || !strings.HasPrefix(secret, "whsec_") || c.Origin != "https://hooks.example.com" ||
		c.UpdatedBy != "ann" {
		t.Fatalf("made %+v, %q, %t, %v", c, secret, created, err)
	}
	got, target, err := s.Channel(ctx, "ops")
	if err != nil || got.Version != c.Version || target.Secret != secret ||
		target.URL != "https://hooks.example.com/T0/canary" {
		t.Fatalf("read %+v, %+v, %v", got, target, err)
	}
	if all := everything(t, client); strings.Contains(all, "canary") ||
		strings.Contains(all, strings.TrimPrefix(secret, "whsec_")) {
		t.Errorf("etcd holds the secret: %s", all)
	}
	// Omitted fields keep their value; an identical change changes nothing.
	if c2, secret, created, err := s.Save(ctx, ann, "ops", notify.ChannelDefinition{Kind: notify.KindWebhook},
		common.Precondition{}); err != nil || created || secret != "" || c2.Version != c.Version {
		t.Errorf("the same again: %+v, %q, %t, %v", c2, secret, created, err)
	}
	c, secret, _, err = s.Save(ctx, ann, "ops", notify.ChannelDefinition{
		Kind:      notify.KindWebhook,
		NewSecret: true,
		Disabled:  true,
	}, common.Precondition{Version: c.Version})
	if err != nil || secret == "" || secret == target.Secret || !c.Disabled {
		t.Fatalf("a new secret: %+v, %q, %v", c, secret, err)
	}
	if _, anew, _ := s.Channel(ctx, "ops"); anew.Secret != secret || anew.URL != target.URL {
		t.Errorf("then %+v", anew)
	}
	for _, pre := range []common.Precondition{{Absent: true}, {Version: c.Version + 1}} {
		if _, _, _, err := s.Save(ctx, ann, "ops", hook(""), pre); common.CodeOf(err) != common.CodeStale {
			t.Errorf("%+v: %v", pre, err)
		}
	}
	if _, _, _, err := s.Save(ctx, ann, "none", hook(""),
		common.Precondition{Version: 1}); common.CodeOf(err) != common.CodeStale {
		t.Errorf("one that is not there: %v", err)
	}
	for _, name := range []string{"", "A", "a/b", "..", "a..b", "a\x00"} {
		if _, _, _, err := s.Save(ctx, ann, name, hook(""),
			common.Precondition{}); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	// A change of the kind removes the target.
	if c, _, _, err = s.Save(ctx, ann, "ops", notify.ChannelDefinition{
		Kind: notify.KindMail,
		To:   []string{"ops@example.com"},
	}, common.Precondition{}); err != nil || c.Sealed != "" || c.Origin != "" {
		t.Errorf("as mail: %+v, %v", c, err)
	}
	if all, err := s.Channels(ctx); err != nil || len(all) != 1 ||
		!slices.Equal(all[0].To, []string{"ops@example.com"}) {
		t.Errorf("listed %+v, %v", all, err)
	}
	if err := s.Delete(ctx, ann, "ops", common.Precondition{Version: 1}); common.CodeOf(err) != common.CodeStale {
		t.Errorf("delete another version: %v", err)
	}
	if err := s.Delete(ctx, ann, "ops", common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(ctx, "ops"); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("found after that: %v", err)
	}
	if none, _, err := s.Channel(ctx, "ops"); err != nil || none.Version != 0 {
		t.Errorf("found after that: %+v, %v", none, err)
	}
	// Each change is in the audit, without the encrypted target.
	resp, err := client.Get(ctx, common.ChangesPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, kv := range resp.Kvs {
		change, err := common.Decode[common.Change](kv.Value)
		if err != nil || change.Kind != "channel" || change.Name != "ops" || change.Actor != ann ||
			strings.Contains(string(kv.Value), "s1.") || strings.Contains(string(kv.Value), "canary") {
			t.Errorf("change %s, %v", kv.Value, err)
		}
		verbs = append(verbs, change.Verb)
	}
	if !slices.Equal(verbs, []string{"create", "replace", "replace", "delete"}) {
		t.Errorf("changes: %v", verbs)
	}
}

// A missing key is reported, and a key that was replaced still decrypts its values.
func TestSecretsKey_MissingOrReplaced(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	ctx := t.Context()
	without := notifyetcd.New(client, nil, time.Now, func() {})
	if _, _, _, err := without.Save(ctx, ann, "ops", hook(""),
		common.Precondition{}); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("saved without a key: %v", err)
	}
	if _, _, _, err := without.Save(ctx, ann, "post", notify.ChannelDefinition{
		Kind: notify.KindMail,
		To:   []string{"a@example.com"},
	}, common.Precondition{}); err != nil {
		t.Errorf("mail needs no key: %v", err)
	}
	old, next := crypt.NewKey(), crypt.NewKey()
	if _, _, _, err := storeOver(t, client, old).Save(ctx, ann, "ops", hook(""), common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*notifyetcd.Store{"none": without, "another": storeOver(t, client, next)} {
		if c, _, err := s.Channel(ctx, "ops"); !errors.Is(err, notify.ErrSealed) || c.Version == 0 {
			t.Errorf("with key %s: %+v, %v", name, c, err)
		}
		if _, _, _, err := s.Save(ctx, ann, "ops", notify.ChannelDefinition{Kind: notify.KindWebhook, NewSecret: true},
			common.Precondition{}); common.CodeOf(err) != common.CodeConflict {
			t.Errorf("with key %s, a new secret: %v", name, err)
		}
	}
	both := storeOver(t, client, next+"\n"+old)
	if _, target, err := both.Channel(ctx, "ops"); err != nil || target.Secret == "" {
		t.Errorf("with both: %v", err)
	}
	if _, _, _, err := both.Save(ctx, ann, "ops", notify.ChannelDefinition{Kind: notify.KindWebhook, NewSecret: true},
		common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if _, target, err := storeOver(t, client, next).Channel(ctx, "ops"); err != nil || target.Secret == "" {
		t.Errorf("sealed anew, with the new one alone: %v", err)
	}
	// An encrypted value does not decrypt under another name.
	resp, err := client.Get(ctx, common.ChannelKey("ops"))
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(resp.Kvs[0].Value, &c); err != nil {
		t.Fatal(err)
	}
	c["name"] = "mine"
	data, _ := json.Marshal(c)
	if _, err := client.Put(ctx, common.ChannelKey("mine"), string(data)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := both.Channel(ctx, "mine"); !errors.Is(err, notify.ErrSealed) {
		t.Errorf("moved: %v", err)
	}
}

// definitions returns a complete definition of each kind that has a target.
func definitions() []notify.ChannelDefinition {
	return []notify.ChannelDefinition{
		hook(notify.NewSecret()),
		{Kind: notify.KindSlack, URL: "https://hooks.slack.com/services/canary", Language: notify.Chinese},
		{Kind: notify.KindPagerDuty, Key: "canary0123456789canary0123456789"},
		{Kind: notify.KindTeams, URL: "https://x.logic.azure.com/workflows/1?sig=canary"},
		{Kind: notify.KindDiscord, URL: "https://discord.com/api/webhooks/1/canary"},
		{Kind: notify.KindMattermost, URL: "https://chat.example.com/hooks/canary"},
		{Kind: notify.KindTelegram, Key: "110201543:canaryAAHdqTcvCH1vGWJxfS", Chat: "@canary_chat"},
		{
			Kind:   notify.KindDingTalk,
			URL:    "https://oapi.dingtalk.com/robot/send?access_token=canary",
			Secret: "SECcanary",
		},
		{Kind: notify.KindFeishu, URL: "https://open.feishu.cn/open-apis/bot/v2/hook/canary", Secret: "canary"},
		{Kind: notify.KindWeCom, URL: "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=canary"},
		{Kind: notify.KindNtfy, URL: "https://ntfy.example.com/canary", Key: "tk_canary"},
		{Kind: notify.KindOpsgenie, Key: "canary-eb243592", URL: "https://api.eu.opsgenie.com"},
		{Kind: notify.KindPing, URL: "https://hc-ping.com/canary"},
	}
}

// What a kind needs to call its service is encrypted, whatever it is, and neither in the audit nor in a list. What is
// not given stays.
func TestChannels_TargetOfEachKind_IsEncrypted(t *testing.T) {
	s, client := newStore(t)
	ctx := t.Context()
	all := definitions()
	if len(all) != len(notify.Kinds)-1 { // mail has no target
		t.Errorf("%d kinds are tested", len(all))
	}
	for _, wanted := range all {
		name := string(wanted.Kind)
		c, secret, created, err := s.Save(ctx, ann, name, wanted, common.Precondition{})
		if err != nil || !created || secret != "" || c.Origin == "" || c.Language != wanted.Language {
			t.Errorf("%s: %+v, %q, %v", name, c, secret, err)
		}
		c2, target, err := s.Channel(ctx, name)
		if err != nil || target.URL == "" || wanted.URL != "" && target.URL != wanted.URL ||
			target.Secret != wanted.Secret || target.Key != wanted.Key || target.Chat != wanted.Chat {
			t.Errorf("%s: target %+v, %v", name, target, err)
		}
		if data, _ := json.Marshal(c2); strings.Contains(string(data), "canary") {
			t.Errorf("%s: %s", name, data)
		}
		// Without its secret fields, and with another URL alone.
		other := "https://other.example.com/api/webhooks/hooks/bot/v2/hook/canary?access_token=canary&key=canary"
		for _, again := range []notify.ChannelDefinition{
			{Kind: wanted.Kind, Language: wanted.Language, Disabled: true},
			{Kind: wanted.Kind, URL: strings.Replace(other, "?", "-topic?", 1)},
		} {
			if again.URL != "" && target.Key != "" { // another host does not receive a key that was given for this one
				if _, _, _, err := s.Save(ctx, ann, name, again,
					common.Precondition{}); common.CodeOf(err) != common.CodeInvalid {
					t.Errorf("%s: the key goes to another host: %v", name, err)
				}
				again.Key = target.Key
			}
			c, _, _, err := s.Save(ctx, ann, name, again, common.Precondition{})
			_, after, err2 := s.Channel(ctx, name)
			want := target
			if again.URL != "" {
				want.URL = again.URL
			}
			if err != nil || err2 != nil || after != want || c.Language != again.Language ||
				again.URL != "" && c.Origin != "https://other.example.com" {
				t.Errorf("%s again: %+v, %+v, %v", name, c, after, err)
			}
		}
		if _, _, _, err := s.Save(ctx, ann, name+"-bare", notify.ChannelDefinition{Kind: wanted.Kind},
			common.Precondition{}); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%s without fields: %v", name, err)
		}
	}
	if stored := everything(t, client); strings.Contains(stored, "canary") || !strings.Contains(stored, "slack.com") {
		t.Errorf("etcd holds a secret: %s", stored)
	}
}

func TestDisable_ChangedChannel_StaysEnabled(t *testing.T) {
	s, _ := newStore(t)
	ctx := t.Context()
	c, _, _, err := s.Save(ctx, ann, "ops", hook(""), common.Precondition{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := s.Save(ctx, ann, "ops", notify.ChannelDefinition{Kind: notify.KindWebhook, NewSecret: true},
		common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Disable(ctx, c, "gone"); err != nil { // it was changed since
		t.Fatal(err)
	}
	now, _ := s.Find(ctx, "ops")
	if now.Disabled {
		t.Error("a channel that was changed is disabled")
	}
	if err := s.Disable(ctx, now, "gone"); err != nil {
		t.Fatal(err)
	}
	if now, _ = s.Find(ctx, "ops"); !now.Disabled || now.Why != "gone" {
		t.Errorf("%+v", now)
	}
	if now, _, _, err = s.Save(ctx, ann, "ops", notify.ChannelDefinition{Kind: notify.KindWebhook},
		common.Precondition{}); err != nil || now.Disabled || now.Why != "" {
		t.Errorf("enabled: %+v, %v", now, err)
	}
}

func notice(id string, status notify.Status) notify.Notice {
	return notify.Notice{
		ID:      id,
		Channel: "ops",
		Subject: "failed",
		Status:  status,
		Data:    notify.Data{Event: "failed", Job: "nightly"},
	}
}

func TestCommit_OutdatedState_WritesNothing(t *testing.T) {
	s, client := newStore(t)
	ctx := t.Context()
	written, ok, err := s.Commit(ctx, []notify.State{{Job: "nightly", UID: "u", Trouble: true}},
		[]notify.Notice{notice("1", notify.Waiting), notice("2", notify.Waiting)})
	if err != nil || !ok || written[0].Version == 0 {
		t.Fatalf("%+v, %t, %v", written, ok, err)
	}
	// A decision based on an outdated state writes nothing.
	if _, ok, err := s.Commit(ctx, []notify.State{{Job: "nightly", UID: "u"}},
		[]notify.Notice{notice("3", notify.Waiting)}); err != nil || ok {
		t.Errorf("an old state was taken: %t, %v", ok, err)
	}
	if state, err := s.State(ctx, "nightly"); err != nil || !state.Trouble || state.Version != written[0].Version {
		t.Errorf("%+v, %v", state, err)
	}
	waiting, err := s.Waiting(ctx)
	if err != nil || len(waiting) != 2 || waiting[0].ID != "1" || waiting[1].ID != "2" {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	// One of two concurrent claims of a try succeeds.
	var wins int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			mine := waiting[0]
			mine.Attempts = 1
			mine.Error = fmt.Sprint(i)
			if _, ok, err := s.Put(ctx, mine); err == nil && ok {
				mu.Lock()
				defer mu.Unlock()
				wins++
			}
		})
	}
	all.Wait()
	if wins != 1 {
		t.Errorf("%d have claimed it", wins)
	}
	waiting, _ = s.Waiting(ctx)
	done := waiting[0]
	done.Status, done.DoneAt = notify.Sent, time.Now().UTC()
	if _, ok, err := s.Put(ctx, done); err != nil || !ok {
		t.Fatalf("done: %t, %v", ok, err)
	}
	if _, ok, err := s.Put(ctx, done); err != nil || ok {
		t.Errorf("done twice: %t, %v", ok, err)
	}
	// A completed or pending notification is not created again.
	if _, ok, err := s.Commit(ctx, written, []notify.Notice{notice("1", notify.Waiting), notice("2", notify.Waiting),
		notice("4", notify.Waiting)}); err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	list := func(q notify.NoticeQuery) string {
		t.Helper()
		found, more, err := s.Notices(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, n := range found {
			ids = append(ids, n.ID+":"+string(n.Status))
		}
		return fmt.Sprint(ids, more)
	}
	for _, c := range []struct {
		q    notify.NoticeQuery
		want string
	}{
		{notify.NoticeQuery{}, "[4:waiting 2:waiting 1:sent] false"},
		{notify.NoticeQuery{Limit: 2}, "[4:waiting 2:waiting] true"},
		{notify.NoticeQuery{Limit: 2, Before: "2"}, "[1:sent] false"},
		{notify.NoticeQuery{Status: notify.Sent}, "[1:sent] false"},
		{notify.NoticeQuery{
			Job:     "nightly",
			Channel: "ops",
			Status:  notify.Waiting,
			Limit:   2,
		}, "[4:waiting 2:waiting] false"},
		{notify.NoticeQuery{Job: "other"}, "[] false"},
		{notify.NoticeQuery{Channel: "other"}, "[] false"},
	} {
		if got := list(c.q); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	for i := range 20 {
		n := notice(fmt.Sprintf("5%02d", i), notify.Failed)
		n.DoneAt = time.Now().Add(-time.Hour)
		if i < 5 {
			n.DoneAt = time.Now().Add(-48 * time.Hour)
		}
		if _, ok, err := s.Put(ctx, n); err != nil || !ok {
			t.Fatalf("%t, %v", ok, err)
		}
	}
	if err := s.Prune(ctx, time.Now().Add(-24*time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	if left, _, _ := s.Notices(ctx, notify.NoticeQuery{Status: notify.Failed}); len(left) != 15 {
		t.Errorf("%d are left, want 15", len(left))
	}
	if err := s.Prune(ctx, time.Time{}, 4); err != nil {
		t.Fatal(err)
	}
	if got :=
		list(notify.NoticeQuery{}); got != "[519:failed 518:failed 517:failed 516:failed 4:waiting 2:waiting] false" {
		t.Errorf("left: %s", got)
	}
	// Unreadable values are ignored.
	for _, key := range []string{common.WaitingNoticeKey("9"), common.DoneNoticeKey("9"), common.AlertKey("bad"),
		common.ChannelKey("bad"), common.AlertedKey} {
		if _, err := client.Put(ctx, key, "{"); err != nil {
			t.Fatal(err)
		}
	}
	if waiting, err = s.Waiting(ctx); err != nil || len(waiting) != 2 {
		t.Errorf("%+v, %v", waiting, err)
	}
	if all, err := s.Channels(ctx); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.Delete(ctx, ann, "bad", common.Precondition{}); err != nil {
		t.Errorf("a damaged channel is not deleted: %v", err)
	}
	states, err := s.States(ctx)
	if err != nil || len(states) != 2 || states[0].Job != "bad" || states[0].Version == 0 {
		t.Errorf("%+v, %v", states, err)
	}
	if err := s.Drop(ctx, states); err != nil {
		t.Fatal(err)
	}
	if states, _ = s.States(ctx); len(states) != 0 {
		t.Errorf("%+v", states)
	}
	if place, err := s.Place(ctx); err != nil || place.Revision != 0 || place.Version == 0 {
		t.Errorf("%+v, %v", place, err)
	}
}

// The largest transactions are within etcd's limits.
func TestRequeue_FailedDelivery_IsPendingOnce(t *testing.T) {
	s, client := newStore(t)
	ctx := t.Context()
	failed := notice("1", notify.Failed)
	failed.Attempts, failed.DoneAt = 11, time.Now().UTC()
	if _, ok, err := s.Put(ctx, failed); err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	again, err := s.Requeue(ctx, ann, "1")
	if err != nil || again.Status != notify.Waiting || again.Attempts != 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if all, _, err := s.Notices(ctx, notify.NoticeQuery{}); err != nil || len(all) != 1 ||
		all[0].Status != notify.Waiting {
		t.Errorf("listed: %+v, %v", all, err)
	}
	if resp, err := client.Get(ctx, common.DoneNoticeKey("1")); err != nil || resp.Count != 0 {
		t.Errorf("the completed one is kept: %v", err)
	}
	// It is due: a further request changes nothing.
	before := everything(t, client)
	if _, err := s.Requeue(ctx, ann, "1"); err != nil || everything(t, client) != before {
		t.Errorf("a second request: %v", err)
	}
	if !strings.Contains(before, `"verb":"retry","kind":"channel","name":"ops"`) {
		t.Errorf("no audit entry in %s", before)
	}
	waiting, err := s.Waiting(ctx)
	if err != nil || len(waiting) != 1 {
		t.Fatalf("waiting: %+v, %v", waiting, err)
	}
	sent := waiting[0]
	sent.Status = notify.Sent
	if _, ok, err := s.Put(ctx, sent); err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	if _, err := s.Requeue(ctx, ann, "1"); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("a sent one: %v", err)
	}
	if _, err := s.Requeue(ctx, ann, "2"); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("one that does not exist: %v", err)
	}
}

func TestCommit_LargestTransaction_IsAccepted(t *testing.T) {
	s, _ := newStore(t)
	for _, c := range []struct{ states, notices int }{{1, 60}, {40, 40}} {
		var states []notify.State
		for i := range c.states {
			states = append(states, notify.State{Job: fmt.Sprintf("job-%d-%d", c.states, i), UID: "u", Trouble: true})
		}
		var notices []notify.Notice
		for i := range c.notices {
			notices = append(notices, notice(fmt.Sprintf("%d-%03d", c.states, i), notify.Waiting))
		}
		if written, ok, err := s.Commit(t.Context(), states, notices); err != nil || !ok || len(written) != c.states {
			t.Errorf("%d states and %d notices: %t, %v", c.states, c.notices, ok, err)
		}
	}
	if waiting, err := s.Waiting(t.Context()); err != nil || len(waiting) != 100 {
		t.Errorf("%d wait, %v", len(waiting), err)
	}
}

func TestPlace_IsStoredAndMoved(t *testing.T) {
	s, _ := newStore(t)
	ctx := t.Context()
	place, err := s.Place(ctx)
	if err != nil || place != (notify.Place{}) {
		t.Fatalf("%+v, %v", place, err)
	}
	first, err := s.Move(ctx, notify.Place{Revision: 7, At: time.Now().UTC()})
	if err != nil || first.Revision != 7 || first.Version == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if other, err := s.Move(ctx, notify.Place{Revision: 5}); err != nil || other.Revision != 7 ||
		other.Version != first.Version {
		t.Errorf("an old place was taken: %+v, %v", other, err)
	}
	if next, err := s.Move(ctx, notify.Place{Revision: 9, Version: first.Version}); err != nil || next.Revision != 9 {
		t.Errorf("%+v, %v", next, err)
	}
}

var errEnough = errors.New("enough")

// Outcomes arrive whole and in order, even if deleted since; compacted ones are a gap.
func TestFollow_DeliversOutcomesInOrder(t *testing.T) {
	s, client := newStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	from, err := s.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	put := func(id string, status common.Status) clientv3.Op {
		data, _ := json.Marshal(common.Run{ID: id, Job: "nightly", Status: status})
		return clientv3.OpPut(common.OutboxKey("w", id), string(data))
	}
	do := func(ops ...clientv3.Op) {
		t.Helper()
		if _, err := client.Txn(ctx).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	do(put("a.1", common.StatusFailed), put("b.1", common.StatusSucceeded))
	do(clientv3.OpDelete(common.OutboxKey("w", "a.1")))
	do(clientv3.OpPut(common.LateKey("w", "a.1"), "{}"))
	do(clientv3.OpPut(common.OutboxKey("w", "x.1"), "{"), put("y.1", common.StatusRunning))
	do(clientv3.OpPut(common.OutboxKey("w", "z.1"), `{"id":"other.1","status":"failed"}`))
	do(put("c.1", common.StatusLost))
	var got []string
	var last int64
	err = s.Follow(ctx, from+1, func(_ context.Context, outcomes []notify.Outcome, upTo int64) error {
		for _, o := range outcomes {
			if o.Revision < last || o.Revision > upTo {
				t.Errorf("%s at %d after %d, up to %d", o.Run.ID, o.Revision, last, upTo)
			}
			last = o.Revision
			got = append(got, o.Run.ID)
		}
		if slices.Contains(got, "c.1") {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || !slices.Equal(got, []string{"a.1", "b.1", "c.1"}) {
		t.Errorf("%v, %v", got, err)
	}
	now, _ := s.Now(ctx)
	if _, err := client.Compact(ctx, now); err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(ctx, from+1, func(context.Context, []notify.Outcome, int64) error {
		return nil
	}); !errors.Is(err, notify.ErrGap) {
		t.Errorf("over a gap: %v", err)
	}
}

func TestReseal_EncryptsWithTheNewKey(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	old, next := crypt.NewKey(), crypt.NewKey()
	if _, _, _, err := storeOver(t, client, old).Save(t.Context(), ann, "ops",
		hook("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"), common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := storeOver(t, client, old).Save(t.Context(), ann, "post", notify.ChannelDefinition{
		Kind: notify.KindMail,
		To:   []string{"a@example.com"},
	}, common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if _, err := storeOver(t, client, next).Reseal(t.Context(),
		common.Actor{Name: "host"}); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("without the old key: %v", err)
	}
	for _, want := range []int{1, 0} {
		if n, err := storeOver(t, client, next+"\n"+old).Reseal(t.Context(), common.Actor{Name: "host"}); n != want ||
			err != nil {
			t.Errorf("%d sealed anew, %v; want %d", n, err, want)
		}
	}
	if _, target, err := storeOver(t, client, next).Channel(t.Context(), "ops"); err != nil || target.Secret == "" {
		t.Errorf("with the new key alone: %v", err)
	}
	// The audit contains each change and no secret.
	changes, err := client.Get(t.Context(), common.ChangesPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, kv := range changes.Kvs {
		c, err := common.Decode[common.Change](kv.Value)
		if err != nil {
			t.Fatal(err)
		}
		if c.Verb == "reseal" {
			told++
			if c.Kind != "channel" || c.Name == "" || c.Actor.Name != "host" || c.Before != nil || c.After != nil {
				t.Errorf("%+v", c)
			}
		}
	}
	if told != 1 {
		t.Errorf("the history tells of %d", told)
	}
}

func TestApprovals_AreFollowedAndMarkedAsNotified(t *testing.T) {
	s, client := newStore(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	wait := common.FlowWait{
		Flow:  common.FlowNode{Job: "etl", Run: "u.1.1", Node: "publish", UID: "u"},
		Text:  "Publish?",
		Since: noon,
	}
	key := common.FlowWaitKey("etl", "u.1.1", "publish")
	value := func(w *common.FlowWait) string {
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(data), "}") + `,"newer":1}`
	}
	put := func(key, value string) {
		if _, err := client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	put(key, value(&wait))
	put(key+"x", value(&wait)) // not its key
	put(common.FlowWaitKey("etl", "u.1.1", "bad"), "{")
	orders := common.FlowWait{Flow: common.FlowNode{Job: "etl", Run: "u.1.1", Node: "orders", UID: "u"}, Since: noon,
		Awaited: &common.Awaited{Job: "import"}} // no operator ends it
	put(common.FlowWaitKey("etl", "u.1.1", "orders"), value(&orders))

	type change struct {
		whole bool
		put   []notify.Wait
		gone  []string
	}
	changes := make(chan change, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() {
		err := s.FollowWaits(ctx, func(_ context.Context, whole bool, put []notify.Wait, gone []string) error {
			changes <- change{whole, put, gone}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("following ended with %v", err)
		}
	})
	defer following.Wait()
	defer cancel()
	next := func() change {
		t.Helper()
		select {
		case c := <-changes:
			return c
		case <-time.After(time.Minute):
			t.Fatal("no change")
			return change{}
		}
	}
	first := next()
	if !first.whole || len(first.put) != 1 || first.put[0].Key != key || first.put[0].Job != "etl" ||
		first.put[0].UID != "u" {
		t.Fatalf("listed %+v", first)
	}

	asked := first.put[0]
	asked.Notified = []string{"ops"}
	notice := notify.Notice{ID: "n1", Channel: "ops", Status: notify.Waiting}
	make1 := func(w *common.FlowWait) []notify.Notice {
		if w.Text != "Publish?" {
			t.Errorf("asked %+v", w)
		}
		return []notify.Notice{notice}
	}
	written, ok, err := s.Ask(t.Context(), asked, make1)
	if err != nil || !ok || written.Version <= asked.Version {
		t.Fatalf("wrote %+v, %t, %v", written, ok, err)
	}
	if second := next(); second.whole || len(second.put) != 1 ||
		!slices.Equal(second.put[0].Notified, asked.Notified) || second.put[0].Version != written.Version {
		t.Errorf("changed %+v", second)
	}
	if stored := everything(t, client); !strings.Contains(stored, `"newer":1`) {
		t.Errorf("a field of a newer version was lost: %s", stored)
	}
	if _, ok, err := s.Ask(t.Context(), asked, make1); ok || err != nil { // another master was faster
		t.Errorf("asked twice: %t, %v", ok, err)
	}
	if waiting, err := s.Waiting(t.Context()); err != nil || len(waiting) != 1 || waiting[0].ID != "n1" {
		t.Errorf("waiting %+v, %v", waiting, err)
	}
	if _, err := client.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if third := next(); !slices.Equal(third.gone, []string{key}) {
		t.Errorf("gone %+v", third)
	}
	if _, ok, err := s.Ask(t.Context(), written, make1); ok || err != nil { // it was answered
		t.Errorf("asked after the answer: %t, %v", ok, err)
	}
}
