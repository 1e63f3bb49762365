// Package maintenance decides which fires a maintenance window affects.
//
// While a window is open, nothing in its scope starts by itself: planned fires, fires after other jobs, fires of
// backfills and further attempts. With the policy skip, the fires that are planned within the window are skipped; all
// others wait until it ends. Whether a fire was planned within a window depends on its planned time alone, so that a
// window that passed while all workers were down has the same effect. Runs that have begun, manual runs and the
// replicas of daemon jobs are not affected. The workers that a window names claim nothing while it is open.
//
// It does no I/O.
package maintenance

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler/placement"
)

// Policy is what becomes of the fires that are planned within a window.
type Policy string

// Policies.
const (
	Hold Policy = "hold" // they wait until the window ends; then the job's catchUp policy selects among them
	Skip Policy = "skip" // they are skipped
)

// Bounds of windows.
const (
	MaxWindows  = 200
	MaxScope    = 100 // groups, or workers, of one window
	MaxNote     = 500 // characters
	MaxDuration = 7 * 24 * time.Hour
	MaxLength   = 366 * 24 * time.Hour // of a window with from and to
	// Kept is how long a window that has ended still applies to the fires that were planned within it.
	Kept = 30 * 24 * time.Hour
)

// WindowDefinition is what a user writes of a window.
type WindowDefinition struct {
	From       *time.Time      `json:"from,omitempty" doc:"When it begins; default: now."`
	To         *time.Time      `json:"to,omitempty" doc:"When it ends. Either to, or cronExpr with duration, is required."`
	CronExpr   string          `json:"cronExpr,omitempty" maxLength:"256" doc:"When it begins, again and again." example:"0 2 * * SUN"`
	Timezone   string          `json:"timezone,omitempty" maxLength:"64" doc:"IANA time zone of cronExpr. Default: UTC." example:"Europe/Berlin"`
	Duration   common.Duration `json:"duration,omitempty" doc:"How long it lasts each time, at most 7 days." example:"2h"`
	Groups     []string        `json:"groups,omitempty" nullable:"false" maxItems:"100" doc:"It affects the jobs of these groups; an empty text stands for jobs without a group."`
	Selector   string          `json:"selector,omitempty" maxLength:"1024" doc:"It affects the jobs whose labels match." example:"team=data"`
	Workers    []string        `json:"workers,omitempty" nullable:"false" maxItems:"100" doc:"Names or ids of workers that claim no runs while it is open. Their runs continue."`
	Everything bool            `json:"everything,omitempty" doc:"It affects all jobs."`
	Policy     Policy          `json:"policy,omitempty" enum:"hold,skip" doc:"What becomes of fires planned within it. hold: they wait until it ends, and the job's catchUp policy selects among them; skip: they are skipped. Default: hold."`
	Note       string          `json:"note,omitempty" maxLength:"500" doc:"Why."`
}

// Window is a stored window.
type Window struct {
	Name string `json:"name"`
	WindowDefinition
	Version   int64     `json:"-"` // its ModRevision
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
}

// Recurs reports whether the window opens again and again.
func (d *WindowDefinition) Recurs() bool { return d.CronExpr != "" }

// Jobs reports whether the window affects jobs, and not only workers.
func (d *WindowDefinition) Jobs() bool { return d.Everything || len(d.Groups) > 0 || d.Selector != "" }

// Fill fills in the defaults of a window that is saved at now.
func (d *WindowDefinition) Fill(now time.Time) {
	if d.Policy == "" {
		d.Policy = Hold
	}
	if d.Recurs() {
		if d.Timezone == "" {
			d.Timezone = "UTC"
		}
	} else if d.From == nil {
		d.From = new(now.UTC())
	}
}

// Faults returns what is wrong with a window whose defaults are filled in.
func (d *WindowDefinition) Faults() (faults common.Faults) {
	d.faultsOfTime(&faults)
	d.faultsOfScope(&faults)
	if d.Policy != Hold && d.Policy != Skip {
		faults.Add("policy", "enum", string(d.Policy), "must be hold or skip")
	}
	if utf8.RuneCountInString(d.Note) > MaxNote || !utf8.ValidString(d.Note) {
		faults.Add("note", "too_long", nil, "must be UTF-8 text of at most %d characters", MaxNote)
	}
	return faults
}

func (d *WindowDefinition) faultsOfTime(faults *common.Faults) {
	if d.Recurs() {
		if d.From != nil || d.To != nil {
			faults.Add("cronExpr", "exclusive", nil, "cannot be combined with from and to")
		}
		if length, err := d.Duration.Value(); err != nil || length < time.Minute || length > MaxDuration {
			faults.Add("duration", "bounds", string(d.Duration), "must be a duration from 1m to 7d")
		}
		if s, err := d.schedule(schedule.NewInterner()); err != nil {
			faults.Add("cronExpr", "cron", d.CronExpr, "%s", err.Error())
		} else if s.Floating() {
			faults.Add("cronExpr", "cron", d.CronExpr, "must name times: @every counts from the last one")
		}
		return
	}
	switch {
	case d.Duration != "" || d.Timezone != "":
		faults.Add("cronExpr", "required", nil, "is required with duration and timezone")
	case d.To == nil:
		faults.Add("to", "required", nil, "is required, or cronExpr with duration")
	case !d.To.After(*d.From):
		faults.Add("to", "bounds", d.To.Format(time.RFC3339), "must be after from")
	case d.To.Sub(*d.From) > MaxLength:
		faults.Add("to", "bounds", d.To.Format(time.RFC3339), "must be at most 366 days after from")
	}
}

func (d *WindowDefinition) faultsOfScope(faults *common.Faults) {
	if !d.Jobs() && len(d.Workers) == 0 {
		faults.Add("everything", "required", nil, "a window needs groups, a selector, workers, or everything")
	}
	if d.Everything && (len(d.Groups) > 0 || d.Selector != "") {
		faults.Add("everything", "exclusive", nil, "cannot be combined with groups and a selector")
	}
	if _, err := placement.ParseSelector(d.Selector); err != nil {
		faults.Add("selector", "selector", d.Selector, "%s", err.Error())
	}
	for at, names := range map[string][]string{"groups": d.Groups, "workers": d.Workers} {
		if len(names) > MaxScope {
			faults.Add(at, "too_many", nil, "may have at most %d entries", MaxScope)
		}
		for i, name := range names {
			valid := common.ValidGroup(name) || name == "" // the group of jobs without one
			if at == "workers" {
				valid = name != "" && len(name) <= common.MaxName && utf8.ValidString(name)
			}
			if !valid {
				faults.Add(fmt.Sprintf("%s[%d]", at, i), "name", name, "is no name of a group or worker")
			}
		}
	}
	slices.SortFunc(*faults, func(a, b common.Fault) int { return strings.Compare(a.Location, b.Location) })
}

func (d *WindowDefinition) schedule(in *schedule.Interner) (schedule.Schedule, error) {
	spec, err := schedule.SpecOf("", &common.JobSchedule{CronExpr: d.CronExpr, Timezone: d.Timezone})
	if err != nil {
		return schedule.Schedule{}, err
	}
	return in.Parse(spec)
}
