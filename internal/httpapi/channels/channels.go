package channels

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/notify"
)

// Resource serves channels and deliveries.
type Resource struct {
	Channels   Channels
	References view.References
	Jobs       view.Groups
}

// Include names additional data in a list of channels.
type Include string

// includeLast requests the latest delivery of each channel.
const includeLast Include = "last"

// Channel is a destination of notifications.
type Channel struct {
	Name      string          `json:"name"`
	Kind      notify.Kind     `json:"kind" enum:"webhook,mail,slack,pagerduty,teams,discord,mattermost,telegram,dingtalk,feishu,wecom,ntfy,opsgenie,ping"`
	Origin    string          `json:"origin,omitempty" doc:"Scheme and host of its URL, the rest of which is secret. For admins only."`
	To        []string        `json:"to,omitempty" nullable:"false" doc:"Mail addresses. For admins only."`
	Language  notify.Language `json:"language,omitempty" enum:"en,zh" doc:"Language of messages; en if absent."`
	Disabled  bool            `json:"disabled,omitempty" doc:"Nothing is sent to the channel."`
	Why       string          `json:"why,omitempty" doc:"Why the channel was disabled automatically."`
	Jobs      int             `json:"jobs" doc:"Number of jobs that notify it."`
	UsedBy    []string        `json:"usedBy,omitempty" nullable:"false" doc:"The first 100 of these jobs, by name; in the response for a single channel."`
	Pending   int             `json:"pending,omitempty" doc:"Number of its deliveries that are waiting; on request."`
	Last      *Delivery       `json:"last,omitempty" doc:"The latest delivery that was tried; on request."`
	Version   int64           `json:"version" doc:"Increases with each change; also the ETag."`
	CreatedAt time.Time       `json:"createdAt"`
	UpdatedAt time.Time       `json:"updatedAt"`
	UpdatedBy string          `json:"updatedBy,omitempty"`
	Secret    string          `json:"secret,omitempty" doc:"A generated signing secret. It is not shown again."`
}

// Delivery is one notification to one channel.
type Delivery struct {
	ID        string         `json:"id" doc:"The message id is msg_ followed by this id."`
	Channel   string         `json:"channel"`
	Kind      notify.Kind    `json:"kind,omitempty" enum:"webhook,mail,slack,pagerduty,teams,discord,mattermost,telegram,dingtalk,feishu,wecom,ntfy,opsgenie,ping"`
	Event     notify.Subject `json:"event" enum:"failed,missed,lost,late,recovered,approval,paused,output,step_failed,skipped,escalated,digest,summary,summary_recovered,summary_output,test" doc:"The event."`
	Text      string         `json:"text" doc:"The message in one line."`
	Headline  common.Reason  `json:"headline" doc:"The message in one line, with code and data for translated texts."`
	Job       string         `json:"job,omitempty"`
	Run       string         `json:"run,omitempty"`
	Fire      string         `json:"fire,omitempty"`
	Jobs      []string       `json:"jobs,omitempty" nullable:"false" doc:"The first jobs of a summary."`
	Count     int64          `json:"count,omitempty" doc:"Number of failed fires, or of jobs in a summary."`
	Status    notify.Status  `json:"status" enum:"waiting,sent,failed"`
	Code      string         `json:"code,omitempty" enum:"channel_unknown,channel_disabled,channel_sealed,kind_unavailable,refused,gone,gave_up,trouble" doc:"Why it failed or is pending."`
	Error     string         `json:"error,omitempty" doc:"Error of the last try. For admins only."`
	LastLine  string         `json:"lastLine,omitempty" doc:"The last line that the failed run printed, for callers who may read its output."`
	Answer    int            `json:"answer,omitempty" doc:"HTTP or SMTP status of the last try."`
	Attempts  int            `json:"attempts"`
	CreatedAt time.Time      `json:"createdAt"`
	NextAt    *time.Time     `json:"nextAt,omitempty" doc:"Time of the next try."`
	DoneAt    *time.Time     `json:"doneAt,omitempty"`
}

// ChannelPath names a channel.
type ChannelPath struct {
	Name string `path:"name" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Name of the channel."`
}

type channelsInput struct {
	Include []Include `query:"include" nullable:"false" doc:"Additional data for each channel: its latest delivery and the number of pending ones."`
}

type channelPutInput struct {
	ChannelPath
	IfMatch     string `header:"If-Match" doc:"Only if the channel has this ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: only if the channel does not exist."`
	Body        notify.ChannelDefinition
}

type channelDeleteInput struct {
	ChannelPath
	IfMatch string `header:"If-Match" doc:"Only if the channel has this ETag."`
}

type deliveriesInput struct {
	Channel string        `query:"channel" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only deliveries to this channel."`
	Job     string        `query:"job" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only deliveries about this job."`
	Status  notify.Status `query:"status" enum:"waiting,sent,failed" doc:"Only deliveries with this status."`
	Limit   int           `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Maximum number of items."`
	Cursor  string        `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page; the filters must be the same."`
}

// DeliveryPath names a delivery.
type DeliveryPath struct {
	ID string `path:"id" pattern:"^[0-9a-z-]{1,64}$" doc:"Id of the delivery."`
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("notifications", "/api/v1")
	core.Register(r, op.Get("list-channels", "/channels", "List channels", core.Viewer), s.list)
	core.Enumerate(r, "/api/v1/channels", "include", []Include{includeLast})
	core.Register(r, op.Get("get-channel", "/channels/{name}", "Get a channel", core.Viewer), s.get)
	put := op.Put("put-channel", "/channels/{name}", "Create or change a channel", core.Admin)
	put.Responses = core.Created("Channel")
	core.Register(r, put.Everywhere(), s.put)
	core.Register(r, op.Delete("delete-channel", "/channels/{name}", "Delete a channel", core.Admin).Everywhere(),
		s.delete)
	core.Register(r, op.Post("test-channel", "/channels/{name}/test", "Send a test message to a channel",
		core.Admin).Everywhere(), s.test)
	core.Register(r, op.Get("list-deliveries", "/deliveries",
		"List pending deliveries and those of the last seven days, newest first", core.Viewer), s.deliveries)
	core.Register(r, op.Post("retry-delivery", "/deliveries/{id}/retry", "Send a delivery again",
		core.Admin).Everywhere(), s.retry)
}

func (s *Resource) list(ctx context.Context, in *channelsInput) (*core.Body[core.Page[Channel]], error) {
	found, err := s.Channels.Channels(ctx)
	if err != nil {
		return nil, err
	}
	jobs := s.References.References(ctx, common.ReferentChannel)
	items := core.Items(found, func(c *notify.Channel) Channel {
		out := channelOf(ctx, c)
		out.Jobs = jobs[c.Name]
		return out
	})
	if slices.Contains(in.Include, includeLast) {
		if err := s.addLast(ctx, items); err != nil {
			return nil, err
		}
	}
	return core.Reply(core.NewPage(items, ""))
}

// addLast adds the latest delivery that was tried, and the number of pending ones, to each channel.
func (s *Resource) addLast(ctx context.Context, items []Channel) error {
	notices, _, err := s.Channels.Notices(ctx, notify.NoticeQuery{})
	if err != nil {
		return err
	}
	by := make(map[string]*Channel, len(items))
	for i := range items {
		by[items[i].Name] = &items[i]
	}
	for i := range notices {
		n := &notices[i]
		c := by[n.Channel]
		if c == nil {
			continue
		}
		if n.Status == notify.Waiting {
			c.Pending++
		}
		if c.Last == nil && n.Attempts > 0 {
			c.Last = new(s.deliveryOf(ctx, n))
		}
	}
	return nil
}

// one returns a channel with the jobs that notify it.
func (s *Resource) one(ctx context.Context, c *notify.Channel) Channel {
	out := channelOf(ctx, c)
	out.Jobs = s.References.References(ctx, common.ReferentChannel)[c.Name]
	out.UsedBy = s.References.Referring(ctx, common.ReferentChannel, c.Name, view.MaxUsedBy)
	return out
}

func (s *Resource) get(ctx context.Context, in *ChannelPath) (*core.Versioned[Channel], error) {
	c, err := s.Channels.Find(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	return core.ReplyVersion(c.Version, false, s.one(ctx, &c))
}

func (s *Resource) put(ctx context.Context, in *channelPutInput) (*core.Versioned[Channel], error) {
	pre, err := core.Precondition(in.IfMatch, in.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	c, secret, created, err := s.Channels.Save(ctx, core.Actor(ctx), in.Name, in.Body, pre)
	if err != nil {
		return nil, err
	}
	out := s.one(ctx, &c)
	out.Secret = secret
	return core.ReplyVersion(c.Version, created, out)
}

func (s *Resource) delete(ctx context.Context, in *channelDeleteInput) (*struct{}, error) {
	pre, err := core.Precondition(in.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return nil, s.Channels.Delete(ctx, core.Actor(ctx), in.Name, pre)
}

func (s *Resource) test(ctx context.Context, in *ChannelPath) (*core.Body[Delivery], error) {
	n, err := s.Channels.Test(ctx, core.Actor(ctx), in.Name)
	if err != nil {
		return nil, err
	}
	return core.Reply(s.deliveryOf(ctx, &n))
}

func (s *Resource) retry(ctx context.Context, in *DeliveryPath) (*core.Body[Delivery], error) {
	n, err := s.Channels.Retry(ctx, core.Actor(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return core.Reply(s.deliveryOf(ctx, &n))
}

func (s *Resource) deliveries(ctx context.Context, in *deliveriesInput) (*core.Body[core.Page[Delivery]], error) {
	list := core.ListName("deliveries", "channel", in.Channel, "job", in.Job, "status", string(in.Status))
	q := notify.NoticeQuery{Channel: in.Channel, Job: in.Job, Status: in.Status, Limit: in.Limit}
	var err error
	if q.Before, err = core.ReadCursor[string](list, in.Cursor); err != nil {
		return nil, err
	}
	found, more, err := s.Channels.Notices(ctx, q)
	if err != nil {
		return nil, err
	}
	items, next := core.Items(found, func(n *notify.Notice) Delivery { return s.deliveryOf(ctx, n) }), ""
	if more {
		if next, err = core.WriteCursor(list, &found[len(found)-1].ID); err != nil {
			return nil, err
		}
	}
	return core.Reply(core.NewPage(items, next))
}

// isAdmin reports whether the caller may see destinations and their responses.
func isAdmin(ctx context.Context) bool {
	who, ok := core.Identity(ctx)
	return ok && who.Role.Includes(access.Admin)
}

func channelOf(ctx context.Context, c *notify.Channel) Channel {
	out := Channel{
		Name:      c.Name,
		Kind:      c.Kind,
		Language:  c.Language,
		Disabled:  c.Disabled,
		Why:       c.Why,
		Version:   c.Version,
		CreatedAt: c.CreatedAt,
		UpdatedAt: c.UpdatedAt,
		UpdatedBy: c.UpdatedBy,
	}
	if isAdmin(ctx) {
		out.Origin, out.To = c.Origin, c.To
	}
	return out
}

func (s *Resource) deliveryOf(ctx context.Context, n *notify.Notice) Delivery {
	said := n.Headline()
	d := Delivery{
		ID:        n.ID,
		Channel:   n.Channel,
		Kind:      n.Kind,
		Event:     n.Subject,
		Text:      said.Text,
		Headline:  said,
		Job:       n.Data.Job,
		Run:       n.Data.Run,
		Fire:      n.Data.Fire,
		Jobs:      n.Data.Jobs,
		Count:     n.Data.Count,
		Status:    n.Status,
		Code:      n.Code,
		Answer:    n.Answer,
		Attempts:  n.Attempts,
		CreatedAt: n.CreatedAt,
	}
	if !n.NextAt.IsZero() {
		d.NextAt = &n.NextAt
	}
	if !n.DoneAt.IsZero() {
		d.DoneAt = &n.DoneAt
	}
	if isAdmin(ctx) {
		d.Error = n.Error
	}
	if r := n.Data.Reason; r != nil && r.Data[common.LastLine] != "" {
		uid, _, _ := strings.Cut(n.Data.Run, ".")
		if view.MayOf(ctx, s.Jobs, access.Viewer, n.Data.Job, uid, n.Data.Group) {
			d.LastLine = r.Data[common.LastLine]
		}
	}
	return d
}

// Channels manages channels and lists deliveries.
type Channels interface {
	Channels(ctx context.Context) ([]notify.Channel, error)
	Find(ctx context.Context, name string) (notify.Channel, error)
	// Save creates or changes a channel. A generated signing secret is returned once.
	Save(ctx context.Context, actor common.Actor, name string, wanted notify.ChannelDefinition,
		pre common.Precondition) (c notify.Channel, secret string, created bool, err error)
	Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition) error
	// Test sends a test message to a channel, once.
	Test(ctx context.Context, actor common.Actor, name string) (notify.Notice, error)
	// Retry makes a failed or pending delivery due now. CodeConflict if it was sent.
	Retry(ctx context.Context, actor common.Actor, id string) (notify.Notice, error)
	// Notices lists deliveries, newest first.
	Notices(ctx context.Context, q notify.NoticeQuery) (found []notify.Notice, more bool, err error)
}
