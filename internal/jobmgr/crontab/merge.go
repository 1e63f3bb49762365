package crontab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"carillon/internal/common"
)

// Merge joins entries that differ in their times only: each command becomes one job, which has several schedules if it
// is in several lines. A job takes at most as many lines as it may have schedules; further ones become another job.
// The title of a line becomes the label of its schedule, unless all lines have the same title. Merged entries keep the
// order of their first lines; Lines holds all of them.
func Merge(entries []Entry) (merged []Entry) {
	open := map[string]int{} // by what the entries have in common: the place of the one that takes more
	groups := [][]*Entry{}
	for i := range entries {
		e := &entries[i]
		key := e.common()
		at, known := open[key]
		if !known || len(groups[at]) == common.MaxSchedules {
			at = len(groups)
			open[key], groups = at, append(groups, nil)
		}
		groups[at] = append(groups[at], e)
	}
	marks := map[string]int{}
	for _, group := range groups {
		if len(group) == 1 {
			merged = append(merged, *group[0])
			continue
		}
		merged = append(merged, join(group, marks))
	}
	return merged
}

// common returns a text that is equal for entries that may be merged.
func (e *Entry) common() string {
	job := e.Job
	job.Name, job.Title, job.Description, job.Labels = "", "", "", nil
	job.CronExpr, job.Timezone, job.Jitter = "", "", ""
	text, err := json.Marshal(struct {
		Job    common.Job
		MailTo *string
	}{job, e.MailTo})
	if err != nil { // it is never merged
		return fmt.Sprint(e.Line)
	}
	return string(text)
}

// join returns the entry of several lines. Its mark does not depend on their times, so that another import finds the
// job after a line was added.
func join(group []*Entry, marks map[string]int) Entry {
	e := *group[0]
	e.Lines, e.keys = nil, nil
	sum := sha256.Sum256([]byte(strings.Join([]string{"merged", e.Job.User, e.Job.Command, e.Job.Stdin}, "\x00")))
	mark := hex.EncodeToString(sum[:4])
	if marks[mark]++; marks[mark] > 1 {
		mark = fmt.Sprintf("%s-%d", mark, marks[mark])
	}
	e.Job.Labels = map[string]string{Label: e.Job.Labels[Label], LineLabel: mark}
	e.Job.CronExpr, e.Job.Timezone, e.Job.Jitter = "", "", ""
	alike := true
	for _, of := range group {
		alike = alike && of.Job.Title == e.Job.Title
	}
	for _, of := range group {
		label := ""
		if !alike {
			label = shorten(of.Job.Title, common.MaxScheduleLabel)
		}
		e.Job.Schedules = append(e.Job.Schedules, common.JobSchedule{CronExpr: of.Job.CronExpr,
			Timezone: of.Job.Timezone, Jitter: of.Job.Jitter, Label: label})
		e.Lines, e.keys = append(e.Lines, of.Line), append(e.keys, Key(of.Job.Labels))
	}
	if !alike {
		e.Job.Title, e.Job.Description = "", ""
	}
	return e
}

// shorten cuts a text to a number of characters.
func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
