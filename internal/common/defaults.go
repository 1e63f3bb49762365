package common

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Defaults are the settings of jobs that do not set them themselves.
type Defaults struct {
	Notify    *Notify           `json:"notify,omitempty" doc:"Notifications. A job that sets notify, even as {}, inherits none of it."`
	Retry     *Retry            `json:"retry,omitempty" doc:"Retries of failed runs; not of daemon jobs. A job that sets retry, even as {}, inherits none of it."`
	Timeout   Duration          `json:"timeout,omitempty" doc:"The run is ended after this time; not of daemon jobs. A job with 0s has none." example:"1h"`
	LostAfter Duration          `json:"lostAfter,omitempty" doc:"How long a worker that cannot reach etcd lets its runs continue; of a flow, those of its inline steps." example:"60s"`
	Placement *Placement        `json:"placement,omitempty" doc:"Where jobs may run; of a flow, its inline steps."`
	Timezone  string            `json:"timezone,omitempty" maxLength:"256" doc:"IANA time zone of schedules that name none." example:"Asia/Shanghai"`
	Env       map[string]string `json:"env,omitempty" doc:"Environment variables, each of which a job may set to another value."`
	Retention *Retention        `json:"retention,omitempty" doc:"How long runs are kept."`
}

// IsZero reports whether nothing is set.
func (d *Defaults) IsZero() bool {
	data, err := json.Marshal(d)
	return err == nil && bytes.Equal(data, []byte("{}"))
}

// GroupDefaults are the stored defaults of a group, or of all jobs.
type GroupDefaults struct {
	Group string `json:"group" doc:"The group; * for the defaults of all jobs."`
	Defaults
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	Version   int64     `json:"-"`
}

// Inheritance holds the values that a job inherits from one set of defaults.
type Inheritance struct {
	From string `json:"from" doc:"The group whose defaults these are; * for the defaults of all jobs."`
	Defaults
	Schedules []int `json:"schedules,omitempty" nullable:"false" doc:"Which of the job's several schedules inherit the time zone, from 0."`
}

// Inherit returns the job with the defaults that apply to it, nearest first, and what it inherits from which of them.
// The job itself stays as it is.
func (j *Job) Inherit(defaults []GroupDefaults) (effective Job, from []Inheritance) {
	effective = *j
	for i := range defaults {
		d, got := &defaults[i], Inheritance{From: defaults[i].Group}
		inherit(&effective.Notify, d.Notify, &got.Notify)
		inherit(&effective.Retention, d.Retention, &got.Retention)
		if j.Daemon == nil {
			inherit(&effective.Retry, d.Retry, &got.Retry)
			inherit(&effective.Timeout, d.Timeout, &got.Timeout)
		}
		inherit(&effective.Placement, d.Placement, &got.Placement)
		inherit(&effective.LostAfter, d.LostAfter, &got.LostAfter)
		effective.inheritZone(d.Timezone, &got)
		effective.inheritEnv(d.Env, &got)
		if !got.IsZero() {
			from = append(from, got)
		}
	}
	return effective, from
}

// inherit sets a field that is not set, and notes it.
func inherit[T comparable](field *T, value T, noted *T) {
	var unset T
	if *field == unset && value != unset {
		*field, *noted = value, value
	}
}

func (j *Job) inheritZone(zone string, got *Inheritance) {
	if len(j.Schedules) == 0 {
		inherit(&j.Timezone, zone, &got.Timezone)
		return
	}
	if zone == "" {
		return
	}
	j.Schedules = slices.Clone(j.Schedules)
	for i := range j.Schedules {
		if j.Schedules[i].Timezone == "" {
			j.Schedules[i].Timezone, got.Timezone = zone, zone
			got.Schedules = append(got.Schedules, i)
		}
	}
}

// inheritEnv adds the variables that the job lacks and that are no parameters of it. A function gets no secrets.
func (j *Job) inheritEnv(env map[string]string, got *Inheritance) {
	for name, value := range env {
		_, isSecret := strings.CutPrefix(value, SecretPrefix)
		_, own := j.Env[name]
		_, isParam := j.Params[name]
		if own || isParam || isSecret && j.TypeName() == TypeFunc {
			continue
		}
		if got.Env == nil {
			got.Env, j.Env = map[string]string{}, maps.Clone(j.Env)
		}
		if j.Env == nil {
			j.Env = map[string]string{}
		}
		j.Env[name], got.Env[name] = value, value
	}
}

// Own returns the job as its author defined it, without what it inherits, and what it inherits. A value that differs
// from the one that was inherited is the author's: an older master, which knows no defaults, has saved it.
func (s *StoredJob) Own() (own Job, inherited []Inheritance) {
	own = s.Job
	for i := range s.Inherited {
		was, is := &s.Inherited[i], Inheritance{From: s.Inherited[i].From}
		disown(&own.Notify, was.Notify, &is.Notify)
		disown(&own.Retention, was.Retention, &is.Retention)
		disown(&own.Retry, was.Retry, &is.Retry)
		disown(&own.Timeout, was.Timeout, &is.Timeout)
		disown(&own.Placement, was.Placement, &is.Placement)
		disown(&own.LostAfter, was.LostAfter, &is.LostAfter)
		own.disownZone(was, &is)
		for name, value := range was.Env {
			if now, exists := own.Env[name]; !exists || now != value {
				continue
			}
			if is.Env == nil {
				is.Env, own.Env = map[string]string{}, maps.Clone(own.Env)
			}
			is.Env[name] = value
			delete(own.Env, name)
		}
		if len(own.Env) == 0 && is.Env != nil {
			own.Env = nil
		}
		if !is.IsZero() {
			inherited = append(inherited, is)
		}
	}
	return own, inherited
}

// disown removes a field that has the value that was inherited, and notes it.
func disown[T comparable](field *T, was T, noted *T) {
	var unset T
	if was != unset && Same(field, &was) {
		*field, *noted = unset, was
	}
}

// Same reports whether two values are stored alike.
func Same[T any](a, b *T) bool {
	one, err1 := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, other)
}

func (j *Job) disownZone(was, is *Inheritance) {
	if len(j.Schedules) == 0 {
		if len(was.Schedules) == 0 {
			disown(&j.Timezone, was.Timezone, &is.Timezone)
		}
		return
	}
	j.Schedules = slices.Clone(j.Schedules)
	for _, i := range was.Schedules {
		if i >= 0 && i < len(j.Schedules) && j.Schedules[i].Timezone == was.Timezone {
			j.Schedules[i].Timezone, is.Timezone = "", was.Timezone
			is.Schedules = append(is.Schedules, i)
		}
	}
}
