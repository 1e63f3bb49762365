package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/crontab"
)

// maxCrontabEntries bounds the jobs that one crontab is turned into here; cronctl takes more.
const maxCrontabEntries = 500

// crontabResource reads crontabs, and writes nothing.
type crontabResource struct {
	jobs Jobs
	zone string // where none is given
}

// CrontabRequest is a crontab, and what it does not say itself.
type CrontabRequest struct {
	Text     string `json:"text" minLength:"1" maxLength:"131072" doc:"The crontab, or some of its lines." example:"30 2 * * * make report"`
	System   bool   `json:"system,omitempty" doc:"Its lines name a user before the command, as in /etc/crontab and /etc/cron.d."`
	Timezone string `json:"timezone,omitempty" maxLength:"256" doc:"IANA name of the zone of lines without a CRON_TZ above them; the server's setting where not given." example:"Asia/Shanghai"`
	Group    string `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?)?$" doc:"The group of the jobs; crontab where not given."`
	Prefix   string `json:"prefix,omitempty" maxLength:"256" doc:"Begins the names of the jobs: the file's path or name, of which it is made; crontab where not given." example:"/etc/cron.d/backup"`
	Home     string `json:"home,omitempty" maxLength:"1024" doc:"Where commands start unless a line sets HOME; the worker's own choice where not given."`
}

// CrontabLine is a line of which there is something to tell.
type CrontabLine struct {
	Line    int             `json:"line" doc:"Its number, from 1; 0 is the whole text."`
	Text    string          `json:"text" doc:"As it was sent."`
	Job     *Definition     `json:"job,omitempty" doc:"The job that it becomes."`
	Faults  []common.Fault  `json:"faults,omitempty" nullable:"false" doc:"Why this job could not be saved; locations are those of its fields."`
	Notices []CrontabNotice `json:"notices,omitempty" nullable:"false" doc:"What there is to know about the line."`
}

// CrontabNotice is a remark on a line.
type CrontabNotice struct {
	Level string `json:"level" enum:"fault,notTaken,note" doc:"fault: cron would not read it either; notTaken: there is no job that does the same; note: it is taken, with something to know."`
	Code  string `json:"code" doc:"What it is, for programs and for translation."`
	Text  string `json:"text" doc:"The same in English."`
	Value string `json:"value,omitempty" doc:"What it is about, where it quotes something."`
}

// Crontab is what a crontab holds.
type Crontab struct {
	Items    []CrontabLine `json:"items" nullable:"false" doc:"In the order of the lines; empty lines, and those that only hold for others, are left out."`
	Jobs     int           `json:"jobs" doc:"Lines that become jobs; at most 500 are read."`
	Faults   int           `json:"faults" doc:"Lines that cron would not read, or whose job could not be saved."`
	NotTaken int           `json:"notTaken" doc:"Lines that cron reads, and of which there is no job that does the same."`
}

type crontabInput struct{ Body CrontabRequest }

type crontabOutput struct{ Body Crontab }

func (s *crontabResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), turns: newTurns(), Operation: huma.Operation{OperationID: "parse-crontab", Method: http.MethodPost,
		Path: "/api/v1/crontab/parse", Summary: "The jobs that the lines of a crontab become; writes nothing", Tags: []string{"schedules"}}}, s.parse)
}

func (s *crontabResource) parse(ctx context.Context, in *crontabInput) (*crontabOutput, error) {
	b := &in.Body
	zone := b.Timezone
	if zone == "" {
		zone = s.zone
	}
	if _, err := schedule.LoadZone(zone); err != nil {
		return nil, common.Invalid("the crontab cannot be read", common.Fault{Location: "timezone", Code: schedule.CodeZoneUnknown, Message: "is not a time zone",
			Hint: "use an IANA name such as Europe/Berlin, Asia/Shanghai or UTC", Value: common.Excerpt(zone)})
	}
	parsed := crontab.Parse(b.Text, crontab.Options{Prefix: crontab.PrefixOf(b.Prefix), System: b.System, Timezone: zone, Group: b.Group, Home: b.Home, Most: maxCrontabEntries})
	c := &crontabLines{texts: strings.Split(b.Text, "\n")}
	for notices, entries := parsed.Notices, parsed.Entries; len(notices) > 0 || len(entries) > 0; {
		if len(entries) == 0 || len(notices) > 0 && notices[0].Line <= entries[0].Line {
			c.notice(&notices[0])
			notices = notices[1:]
			continue
		}
		_, faults, err := s.jobs.Validate(ctx, entries[0].Job)
		if err != nil {
			return nil, err
		}
		line := c.at(entries[0].Line)
		line.Job, line.Faults = new(Definition(entries[0].Job)), faults
		entries = entries[1:]
	}
	return &crontabOutput{Body: c.whole()}, nil
}

// crontabLines gathers what there is to tell, line by line.
type crontabLines struct {
	texts []string
	items []CrontabLine
}

// at is the item of a line; lines come in their order.
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
