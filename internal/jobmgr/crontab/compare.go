package crontab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"carillon/internal/common"
)

// ImportLabel is the label of the parts of a job as they were imported: a digest of each, in their order. With it,
// another import finds out whether the crontab or the job was edited since. The line alone does not say so: its meaning
// depends on the settings above it.
const ImportLabel = "crontab-import"

// part is a part of a job that an import sets.
type part struct {
	name string
	of   func(j *common.Job) any
	take func(to, from *common.Job)
}

// Names of parts, for people.
const notifyPart = "notify"

// parts are compared one by one, so that an edit of one of them does not hide that of another. New ones are appended.
var parts = []part{
	{"times", func(j *common.Job) any { return []any{j.CronExpr, j.Schedules, j.Timezone, j.Jitter} },
		func(to, from *common.Job) {
			to.CronExpr, to.Schedules = from.CronExpr, from.Schedules
			to.Timezone, to.Jitter = from.Timezone, from.Jitter
		}},
	{"command", func(j *common.Job) any { return []any{j.Command, j.Stdin} },
		func(to, from *common.Job) { to.Command, to.Stdin = from.Command, from.Stdin }},
	{"shell", func(j *common.Job) any { return j.Shell },
		func(to, from *common.Job) { to.Shell = from.Shell }},
	{"environment", func(j *common.Job) any { return j.Env },
		func(to, from *common.Job) { to.Env = from.Env }},
	{"working directory", func(j *common.Job) any { return j.WorkDir },
		func(to, from *common.Job) { to.WorkDir = from.WorkDir }},
	{"user", func(j *common.Job) any { return j.User },
		func(to, from *common.Job) { to.User = from.User }},
	{"title", func(j *common.Job) any { return []any{j.Title, j.Description} },
		func(to, from *common.Job) { to.Title, to.Description = from.Title, from.Description }},
	{notifyPart, func(j *common.Job) any { return j.Notify },
		func(to, from *common.Job) { to.Notify = from.Notify }},
}

// digests returns the value of ImportLabel for a job.
func digests(j *common.Job) []string {
	all := make([]string, len(parts))
	for i, p := range parts {
		text, err := json.Marshal(p.of(j))
		if err != nil {
			text = nil // such values can always be encoded
		}
		sum := sha256.Sum256(text)
		all[i] = hex.EncodeToString(sum[:3])
	}
	return all
}

// Record labels the job of an entry with its parts. as is the job as the server would store it.
func (e *Entry) Record(as *common.Job) {
	e.Job.Labels[ImportLabel] = strings.Join(digests(as), ".")
}

// Edits are the parts in which a job differs from its line, by what was edited since the import.
type Edits struct {
	Crontab []string // the crontab, with the settings above the line or the options of the import
	Job     []string
	Both    []string
	Unknown []string // the job was imported before there was ImportLabel

	updated common.Job
}

// Compare compares a stored job with the entry of its line, as the server would store it.
func (e *Entry) Compare(stored, wanted *common.Job) Edits {
	var imported []string
	if text := stored.Labels[ImportLabel]; text != "" {
		imported = strings.Split(text, ".")
	}
	is, becomes := digests(stored), digests(wanted)
	edits := Edits{updated: *stored}
	record := slices.Clone(becomes)
	for i, p := range parts {
		was := ""
		if i < len(imported) {
			was = imported[i]
		}
		switch {
		case p.name == notifyPart && !e.notifies(): // it leaves those alone that were added since
			if was != "" {
				record[i] = was
			}
		case is[i] == becomes[i]:
		case was == "":
			edits.Unknown = append(edits.Unknown, p.name)
		case was == becomes[i]:
			edits.Job = append(edits.Job, p.name)
		case was == is[i]:
			edits.Crontab = append(edits.Crontab, p.name)
			p.take(&edits.updated, wanted)
		default:
			edits.Both = append(edits.Both, p.name)
		}
	}
	edits.updated.Labels = maps.Clone(stored.Labels)
	if edits.updated.Labels == nil {
		edits.updated.Labels = map[string]string{}
	}
	edits.updated.Labels[ImportLabel] = strings.Join(record, ".")
	return edits
}

// notifies reports whether the crontab or the import says who is notified.
func (e *Entry) notifies() bool {
	return e.Job.Notify != nil || e.MailTo != nil && *e.MailTo == ""
}

// Updated returns the stored job with the parts that were edited in the crontab.
func (e *Edits) Updated() common.Job { return e.updated }
