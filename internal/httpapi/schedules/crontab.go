package schedules

import (
	"context"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/jobmgr/crontab"
	"carillon/internal/notify"
)

// maxCrontabEntries bounds the jobs converted from one crontab here; cronctl has no such limit.
const maxCrontabEntries = 500

// CrontabRequest is a crontab, and what it does not say itself.
type CrontabRequest struct {
	Text     string `json:"text" minLength:"1" maxLength:"131072" doc:"The crontab, or part of it." example:"30 2 * * * make report"`
	System   bool   `json:"system,omitempty" doc:"Lines have a user before the command, as in /etc/crontab and /etc/cron.d."`
	Timezone string `json:"timezone,omitempty" maxLength:"256" doc:"IANA time zone of lines without CRON_TZ. Default: the server's setting." example:"Asia/Shanghai"`
	Group    string `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?)?$" doc:"Group of the jobs. Default: crontab."`
	Prefix   string `json:"prefix,omitempty" maxLength:"256" doc:"Prefix of the job names, derived from this file path or name. Default: crontab." example:"/etc/cron.d/backup"`
	Home     string `json:"home,omitempty" maxLength:"1024" doc:"Working directory of lines without HOME. Default: chosen by the worker."`
}

// CrontabLine is the result for a line.
type CrontabLine struct {
	Line    int              `json:"line" doc:"Line number from 1; 0 for the whole text."`
	Text    string           `json:"text" doc:"Text of the line."`
	Job     *view.Definition `json:"job,omitempty" doc:"The resulting job. It has a name that no job has, or the name of the job that was imported from this line before; its label crontab-line identifies the line."`
	Exists  bool             `json:"exists,omitempty" doc:"A job that the caller may edit was imported from this line before; the resulting job has its name and would replace it."`
	Next    *time.Time       `json:"nextFire,omitempty" doc:"The first fire of the resulting job, if it were saved now."`
	MailTo  *string          `json:"mailTo,omitempty" doc:"Value of MAILTO above the line, if it is set; empty: cron would send no mail."`
	Faults  []common.Fault   `json:"faults,omitempty" nullable:"false" doc:"Why the job could not be saved; locations are job fields."`
	Notices []CrontabNotice  `json:"notices,omitempty" nullable:"false" doc:"Remarks on the line."`
}

// CrontabNotice is a remark on a line.
type CrontabNotice struct {
	Level string `json:"level" enum:"fault,notTaken,note" doc:"fault: cron would reject it as well; notTaken: skipped, since no job is equivalent; note: converted, with a remark."`
	Code  string `json:"code" doc:"For programs and translations."`
	Text  string `json:"text" doc:"English text."`
	Value string `json:"value,omitempty" doc:"The quoted value, if any."`
}

// Crontab is the result for a crontab.
type Crontab struct {
	Items    []CrontabLine    `json:"items" nullable:"false" doc:"In the order of the lines, without empty lines and lines that only affect others."`
	Channels []CrontabChannel `json:"channels,omitempty" nullable:"false" doc:"Mail channels that do not exist and that the jobs notify of their output, in place of MAILTO. The caller creates them."`
	Jobs     int              `json:"jobs" doc:"Number of lines converted to jobs; at most 500 are converted."`
	Faults   int              `json:"faults" doc:"Number of lines that cron would reject, or whose job could not be saved."`
	NotTaken int              `json:"notTaken" doc:"Number of lines that cron accepts and that have no equivalent job."`
}

// CrontabChannel is a mail channel to create.
type CrontabChannel struct {
	Name string   `json:"name"`
	To   []string `json:"to" nullable:"false" doc:"Mail addresses, those of MAILTO."`
}

type crontabInput struct{ Body CrontabRequest }

// parse converts a crontab. It writes nothing.
func (t *Resource) parse(ctx context.Context, in *crontabInput) (*core.Body[Crontab], error) {
	b := &in.Body
	zone := b.Timezone
	if zone == "" {
		zone = t.Zone
	}
	if _, err := schedule.LoadZone(zone); err != nil {
		return nil, common.Invalid("the crontab cannot be read", common.NewFault("timezone", schedule.CodeZoneUnknown,
			zone, "is not a time zone").WithHint("use an IANA name such as Europe/Berlin, Asia/Shanghai or UTC"))
	}
	parsed := crontab.Parse(b.Text, crontab.Options{
		Prefix:   crontab.PrefixOf(b.Prefix),
		System:   b.System,
		Timezone: zone,
		Group:    b.Group,
		Home:     b.Home,
		Most:     maxCrontabEntries,
	})
	namer, err := t.namer(ctx)
	if err != nil {
		return nil, err
	}
	mailer, err := t.mailer(ctx)
	if err != nil {
		return nil, err
	}
	c := &crontabLines{texts: strings.Split(b.Text, "\n")}
	for notices, entries := parsed.Notices, parsed.Entries; len(notices) > 0 || len(entries) > 0; {
		if len(entries) == 0 || len(notices) > 0 && notices[0].Line <= entries[0].Line {
			c.notice(&notices[0])
			notices = notices[1:]
			continue
		}
		e := &entries[0]
		if err := namer.Name(e); err != nil {
			return nil, err
		}
		mailer.Apply(e)
		stored, faults, err := t.Jobs.Validate(ctx, e.Job)
		if err != nil {
			return nil, err
		}
		line := c.at(e.Line)
		if len(faults) == 0 {
			line.Next = t.firstFire(&stored.Job)
			own, _ := stored.Own()
			e.Record(&own)
		}
		line.Job, line.Faults, line.Exists, line.MailTo = new(view.Definition(e.Job)), faults, e.Imported, e.MailTo
		entries = entries[1:]
	}
	out := c.whole()
	for _, channel := range mailer.New {
		out.Channels = append(out.Channels, CrontabChannel{Name: channel.Name, To: channel.To})
	}
	return core.Reply(out)
}

// firstFire returns the first fire of a job that is saved now; nil if it has none.
func (t *Resource) firstFire(job *common.Job) *time.Time {
	timetable, err := t.Interner.OfJob(job)
	if err != nil {
		return nil
	}
	now := t.Now()
	at, ok, err := timetable.Upcoming(now, now)
	if err != nil || !ok {
		return nil
	}
	at = at.UTC()
	return &at
}

// mailer knows the channels, and their addresses if the caller may see them.
func (t *Resource) mailer(ctx context.Context) (*crontab.Mailer, error) {
	channels, err := t.Channels.Channels(ctx)
	if err != nil {
		return nil, err
	}
	who, _ := core.Identity(ctx)
	m := &crontab.Mailer{Known: make([]crontab.MailChannel, len(channels))}
	for i := range channels {
		c := &channels[i]
		m.Known[i] = crontab.MailChannel{Name: c.Name, Mail: c.Kind == notify.KindMail}
		if who.Role.Includes(access.Admin) {
			m.Known[i].To = c.To
		}
	}
	return m, nil
}

// namer names jobs by those that exist. All callers may see the names and labels of jobs. A job that the caller may not
// edit is not that of a line: its editors could have given it the label of any.
func (t *Resource) namer(ctx context.Context) (*crontab.Namer, error) {
	who, _ := core.Identity(ctx)
	n := &crontab.Namer{Imported: map[string]string{}, Taken: func(name string) (bool, error) {
		uid, _, known := t.Jobs.UIDAndGroup(name)
		return known && uid != "", nil
	}}
	for q := (common.JobQuery{Selector: crontab.LineLabel, Limit: 500}); ; {
		page, next, err := t.Jobs.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if key := crontab.Key(page[i].Labels); key != "" && who.May(access.Editor, page[i].Group) {
				n.Imported[key] = page[i].Name
			}
		}
		if q.After = next; next == "" {
			return n, nil
		}
	}
}

// crontabLines collects the results by line.
type crontabLines struct {
	texts []string
	items []CrontabLine
}

// at returns the item of a line; lines come in their order.
func (c *crontabLines) at(line int) *CrontabLine {
	if n := len(c.items); n > 0 && c.items[n-1].Line == line {
		return &c.items[n-1]
	}
	item := CrontabLine{Line: line}
	if line > 0 && line <= len(c.texts) {
		item.Text = strings.TrimSuffix(c.texts[line-1], "\r")
	}
	c.items = append(c.items, item)
	return &c.items[len(c.items)-1]
}

func (c *crontabLines) notice(n *crontab.Notice) {
	level := string(n.Level)
	if n.Level == crontab.NotTaken {
		level = "notTaken"
	}
	line := c.at(n.Line)
	line.Notices = append(line.Notices, CrontabNotice{Level: level, Code: n.Code, Text: n.Text, Value: n.Value})
}

func (c *crontabLines) whole() Crontab {
	out := Crontab{Items: c.items}
	if out.Items == nil {
		out.Items = []CrontabLine{}
	}
	for i := range c.items {
		item := &c.items[i]
		fault, notTaken := len(item.Faults) > 0, false
		for _, n := range item.Notices {
			fault, notTaken = fault || n.Level == "fault", notTaken || n.Level == "notTaken"
		}
		if item.Job != nil {
			out.Jobs++
		}
		if fault {
			out.Faults++
		} else if notTaken {
			out.NotTaken++
		}
	}
	return out
}
