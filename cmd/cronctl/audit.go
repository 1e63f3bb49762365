package main

import (
	"cmp"
	"strings"

	"carillon/internal/apiclient"
)

func auditResource() *resource {
	return &resource{
		name: "audit", plural: "audit",
		get: verb{
			use:   "audit",
			short: "List audit entries, newest first",
			long: `List audit entries, newest first: who changed what, from where and why. With -o json or
yaml each entry contains the object before and after the change, without secret values.`,
			example: `  cronctl get audit --from -1d
  cronctl get audit --kind job --name nightly-report -o yaml --limit 1
  cronctl get audit --actor ann --verb delete`,
		},
		columns: columnsOf("WHEN,WHO,FROM,DID,KIND,NAME,NOTE,+USER,+TOKEN,+REQUEST,+REVISION,+SEQ,+HASH",
			func(e *apiclient.AuditEntry, _ bool) []any {
				a := &e.Actor
				return []any{
					e.At, a.Name, a.Remote, e.Verb, e.Kind, e.Name, noteOf(e), a.User, a.Token, a.Request, e.Revision,
					e.Seq,
					cmp.Or(cut(value(e.Hash), 12), "-"),
				}
			}),
		list: some((*client).ListAudit),
		filters: append(between("changes"), filters{
			{name: "actor", help: "only changes by this user, or by the token of this name"},
			{
				name: "kind",
				help: "only this kind of object: job, run, defaults, hook, user, token, session, worker, channel, " +
					"secret, pool, lock, maintenance and others",
			},
			{name: "name", help: "only changes of the object with this name"},
			{
				name: "verb",
				help: "only this action: create, replace, delete, pause, resume, run, kill, login and others",
			},
		}...),
		limit:  &limit{50, "maximum number of entries; 0 for all"},
		newest: true,
	}
}

// noteOf returns the note of a change, with the step of a flow run that it concerns. Requests on runs and pauses have
// it in what they have written.
func noteOf(e *apiclient.AuditEntry) string {
	after, _ := e.After.(map[string]any)
	text := func(name string) string { v, _ := after[name].(string); return v }
	note := cmp.Or(value(e.Actor.Note), text("note"))
	if note == "" && e.Verb == "pause" {
		note = text("pauseNote")
	}
	if step := text("step"); step != "" && e.Kind == "run" {
		return strings.TrimSuffix(step+": "+note, ": ")
	}
	return note
}
