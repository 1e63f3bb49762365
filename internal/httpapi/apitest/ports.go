package apitest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"carillon/internal/audit"
	"carillon/internal/common"
	"carillon/internal/events"
	"carillon/internal/notify"
	"carillon/internal/runlog"
)

// FakeChannels keeps channels in memory.
type FakeChannels struct {
	mu         sync.Mutex
	Kept       map[string]notify.Channel
	NoticeList []notify.Notice
	actor      common.Actor
	version    int64
}

func (f *FakeChannels) Channels(context.Context) (all []notify.Channel, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.Kept {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b notify.Channel) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (f *FakeChannels) Find(_ context.Context, name string) (notify.Channel, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, known := f.Kept[name]; known {
		return c, nil
	}
	return notify.Channel{}, common.Errorf(common.CodeNotFound, "there is no channel %s", name)
}

func (f *FakeChannels) Save(_ context.Context, actor common.Actor, name string, wanted notify.ChannelDefinition,
	pre common.Precondition) (notify.Channel, string, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, known := f.Kept[name]
	if pre.Absent && known || pre.Version != 0 && pre.Version != before.Version {
		return before, "", false, common.Errorf(common.CodeStale, "channel %s is another", name)
	}
	if faults := wanted.Faults(known); len(faults) > 0 {
		return before, "", false, common.Invalid("the channel cannot be saved", faults...)
	}
	f.version++
	f.actor = actor
	c := notify.Channel{
		Name:      name,
		Kind:      wanted.Kind,
		To:        wanted.To,
		Language:  wanted.Language,
		Disabled:  wanted.Disabled,
		UpdatedBy: actor.Name,
		CreatedAt: time.Now(),
		UpdatedAt: time.Now(),
		Version:   f.version,
	}
	if wanted.URL != "" {
		c.Origin, _ = notify.OriginOf(wanted.URL)
		c.Sealed = "sealed-canary"
	}
	if f.Kept == nil {
		f.Kept = map[string]notify.Channel{}
	}
	f.Kept[name] = c
	if wanted.Kind == notify.KindWebhook && !known {
		return c, "whsec_canary", true, nil
	}
	return c, "", !known, nil
}

func (f *FakeChannels) Delete(_ context.Context, _ common.Actor, name string, _ common.Precondition) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.Kept[name]; !known {
		return common.Errorf(common.CodeNotFound, "there is no channel %s", name)
	}
	delete(f.Kept, name)
	return nil
}

func (f *FakeChannels) Test(ctx context.Context, actor common.Actor, name string) (notify.Notice, error) {
	c, err := f.Find(ctx, name)
	if err != nil {
		return notify.Notice{}, err
	}
	return notify.Notice{
		ID:        "1",
		Channel:   name,
		Kind:      c.Kind,
		Subject:   notify.SubjectTest,
		Status:    notify.Failed,
		Code:      notify.CodeTrouble,
		Error:     "it says canary to " + actor.Name,
		Attempts:  1,
		CreatedAt: time.Now(),
		DoneAt:    time.Now(),
		Data:      notify.Data{Event: notify.SubjectTest},
	}, nil
}

func (f *FakeChannels) Retry(_ context.Context, _ common.Actor, id string) (notify.Notice, error) {
	for i := range f.NoticeList {
		if n := &f.NoticeList[i]; n.ID == id {
			again, due, err := n.Again(time.Now())
			if err == nil && due {
				*n = again
			}
			return *n, err
		}
	}
	return notify.Notice{}, common.Errorf(common.CodeNotFound, "delivery %q not found", id)
}

func (f *FakeChannels) Notices(_ context.Context, q notify.NoticeQuery) (found []notify.Notice, more bool, err error) {
	for i := range f.NoticeList {
		if q.Matches(&f.NoticeList[i]) {
			found = append(found, f.NoticeList[i])
		}
	}
	if q.Limit > 0 && len(found) > q.Limit {
		return found[:q.Limit], true, nil
	}
	return found, false, nil
}

// FakeSecrets keeps secrets in memory.
type FakeSecrets struct {
	mu      sync.Mutex
	kept    map[string]common.Secret
	Values  map[string]string
	version int64
}

func (f *FakeSecrets) Secrets(context.Context) (all []common.Secret, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.kept {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b common.Secret) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (f *FakeSecrets) Secret(_ context.Context, name string) (common.Secret, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, known := f.kept[name]; known {
		return s, nil
	}
	return common.Secret{}, common.Errorf(common.CodeNotFound, "there is no secret %s", name)
}

func (f *FakeSecrets) check(name string, pre common.Precondition,
	allowed func(*common.Secret) error) (before common.Secret, known bool, err error) {
	before, known = f.kept[name]
	if known {
		err = allowed(&before)
	} else {
		err = allowed(nil)
	}
	if err == nil && (pre.Absent && known || pre.Version != 0 && pre.Version != before.Version) {
		err = common.Errorf(common.CodeStale, "secret %s is another", name)
	}
	return before, known, err
}

func (f *FakeSecrets) SaveSecret(_ context.Context, actor common.Actor, name string, wanted common.SecretDefinition,
	pre common.Precondition, allowed func(*common.Secret) error) (common.Secret, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, known, err := f.check(name, pre, allowed)
	if err != nil {
		return before, false, err
	}
	if faults := wanted.Faults(known); len(faults) > 0 {
		return before, false, common.Invalid("the secret cannot be saved", faults...)
	}
	f.version++
	s := common.Secret{
		Name:        name,
		Description: wanted.Description,
		Groups:      wanted.Groups,
		UpdatedBy:   actor.Name,
		SetAt:       before.SetAt,
		CreatedAt:   time.Now(),
		UpdatedAt:   time.Now(),
		Version:     f.version,
	}
	if f.kept == nil {
		f.kept, f.Values = map[string]common.Secret{}, map[string]string{}
	}
	if wanted.Value != "" {
		s.SetAt, f.Values[name] = time.Now(), wanted.Value
	}
	f.kept[name] = s
	return s, !known, nil
}

func (f *FakeSecrets) DeleteSecret(_ context.Context, _ common.Actor, name string, pre common.Precondition,
	allowed func(*common.Secret) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known, err := f.check(name, pre, allowed)
	if err != nil {
		return err
	}
	if !known {
		return common.Errorf(common.CodeNotFound, "there is no secret %s", name)
	}
	delete(f.kept, name)
	return nil
}

// FakeAudit is a record in memory.
type FakeAudit struct {
	Changes []common.Change // the oldest first
	Step    audit.Step
	Asked   []int64
	Away    bool
}

func (f *FakeAudit) List(_ context.Context, q runlog.ChangeQuery) (found []common.Change, partial bool, err error) {
	for _, c := range slices.Backward(f.Changes) {
		if q.Matches(&c) && len(found) < q.Limit {
			found = append(found, c)
		}
	}
	return found, f.Away, nil
}

func (f *FakeAudit) Verify(_ context.Context, from int64, limit int) (audit.Step, error) {
	f.Asked = append(f.Asked, from, int64(limit))
	return f.Step, nil
}

// noFeed tells nothing.
type noFeed struct{}

func (noFeed) Follow(context.Context, int64, func(*events.Event) bool, string) (*events.Follower, error) {
	return nil, ErrStoreOff
}
