package main

import (
	"fmt"
	"path/filepath"
	"time"

	"carillon/test/chaos/check"
)

// flowSet returns flows of all shapes, and what their steps run: a chain with retries, a fan, a map, failures with
// rules, one flow within another, and such that are ended, paused, answered or re-run, with clean-up steps.
func flowSet(helper, dir string, from, until time.Time) []planned {
	command := func(shortest, longest int, more ...string) []string {
		return append([]string{helper, "-file", filepath.Join(dir, "ledger"), "-ms", fmt.Sprint(shortest),
			fmt.Sprint(longest)}, more...)
	}
	usual := func(name string, after ...string) check.Step { return check.Step{Name: name, After: after} }
	with := func(s check.Step, change func(*check.Step)) check.Step {
		change(&s)
		return s
	}
	fan := []check.Step{usual("a")}
	for i := range 6 {
		fan = append(fan, usual(fmt.Sprint("b", i), "a"))
	}
	fan = append(fan, usual("z", "b0", "b1", "b2", "b3", "b4", "b5"))
	return finish([]planned{
		{Body: map[string]any{"name": "flow-task", "args": command(50, 500, "-fail", "10")}, Flow: &check.Flow{}},
		flowOf("flow-inner", 0, from, until, command, usual("in"), usual("out", "in")),
		flowOf("flow-chain", 5, from, until, command, usual("a"),
			with(usual("b", "a"), func(s *check.Step) { s.RetryMax = 1 }), usual("c", "b")),
		flowOf("flow-fan", 6, from, until, command, fan...),
		flowOf("flow-map", 7, from, until, command, usual("a"),
			with(usual("each", "a"), func(s *check.Step) { s.Items = 6 }), usual("b", "each"),
			with(usual("z", "each"), func(s *check.Step) { s.Rule = check.AllDone })),
		flowOf("flow-rules", 5, from, until, command, usual("work"), usual("more", "work"),
			with(usual("rescue", "work"), func(s *check.Step) { s.Rule = check.OneFailed }),
			with(usual("never", "work"), func(s *check.Step) { s.Skipped = true }), usual("after_never", "never"),
			with(usual("tolerant", "never", "more"), func(s *check.Step) { s.Rule = check.NoneFailed }),
			with(usual("optional"), func(s *check.Step) { s.Allow = true }), usual("end", "optional"),
			with(usual("cleanup", "more", "rescue"), func(s *check.Step) { s.Rule = check.AllDone })),
		flowOf("flow-nested", 9, from, until, command, usual("a"),
			with(usual("sub", "a"), func(s *check.Step) { s.Job = "flow-inner" }),
			with(usual("task", "a"), func(s *check.Step) { s.Job = "flow-task" }),
			with(usual("z", "sub", "task"), func(s *check.Step) { s.Rule = check.AllDone })),
		flowOf("flow-clean", 6, from, until, command, usual("create"), usual("work", "create"),
			finally("remove", "create", "work"), finally("tidy", "remove")),
		limited(flowOf("flow-limit", 7, from, until, command, usual("create"),
			with(usual("slow", "create"), func(s *check.Step) { s.Items = 8 }), usual("end", "slow"),
			finally("remove", "create", "slow"))),
		flowOf(flowAsks, 8, from, until, command, usual("create"),
			with(usual("ask", "create"), func(s *check.Step) { s.Approval = true }), usual("work", "ask"),
			finally("remove", "create")),
		flowOf(flowFills, 7, from, until, command, usual("create"),
			with(usual("fill", "create"), func(s *check.Step) { s.Approval, s.Skips, s.Param = true, true, "TICKET" }),
			usual("use", "fill"), with(usual("end", "fill"), func(s *check.Step) { s.Rule = check.NoneFailed })),
		flowOf(flowAgain, 3, from, until, command, usual("a"), usual(accepts, "a"),
			with(usual("sub", "a"), func(s *check.Step) { s.Job = "flow-inner" }),
			usual("next", accepts), usual("end", "sub", "next")),
		flowOf(flowEnded, 6, from, until, command, usual("create"), usual("work", "create"),
			with(usual("sub", "create"), func(s *check.Step) { s.Job = "flow-inner" }),
			with(usual("end", "work", "sub"), func(s *check.Step) { s.Rule = check.AllDone }),
			finally("remove", "create", "work"), finally("unmade", "end")),
		flowOf(flowHeld, 7, from, until, command, usual("create"), usual("work", "create"), usual("more", "work"),
			finally("remove", "create", "work")),
		plainOf("after-a", 4, from, until, command), plainOf("after-b", 6, from, until, command),
		plainOf("after-both", 0, from, until, command, "after-a", "after-b"),
		plainOf("after-chain", 0, from, until, command, "after-both"),
	})
}

// plainOf returns a plain job that fires each few seconds, or with 0 only after others.
func plainOf(name string, every int, from, until time.Time, command func(int, int, ...string) []string,
	after ...string) planned {
	p := planned{Flow: &check.Flow{}, Job: check.Job{After: after}, Body: map[string]any{"name": name,
		"args": command(50, 500, "-fail", "20")}}
	p.Job.Spells = []check.Spell{{Anchor: from.Add(time.Second), Every: time.Duration(every) * time.Second, From: from,
		Until: until}}
	if every > 0 {
		p.Body["cronExpr"] = fmt.Sprintf("@every %ds", every)
		p.Body["startAt"], p.Body["endAt"] = from.Add(time.Second), until
	} else {
		p.Body["after"] = after
	}
	return p
}

// Flows that an operator acts on.
const (
	flowAsks  = "flow-asks"  // has an approval
	flowFills = "flow-fills" // has an approval with a parameter, which is skipped without an answer
	flowAgain = "flow-again" // is re-run, or the failure of its step is accepted
	flowEnded = "flow-ended" // is killed
	flowHeld  = "flow-held"  // is paused, and resumed or killed
)

// accepts is the step of flowAgain whose failure is accepted.
const accepts = "work"

func finally(name string, after ...string) check.Step {
	return check.Step{Name: name, After: after, Finally: true}
}

// limited gives a flow a timeout that is over, as a rule, before it ends: its map runs one item after another.
func limited(p planned) planned {
	p.Flow.Timeout, p.Body["timeout"] = true, "3s"
	for _, step := range p.Body["steps"].([]map[string]any) {
		if each, isMap := step["forEach"].(map[string]any); isMap {
			each["concurrency"] = 1
		}
	}
	return p
}

// flowOf returns a flow that fires each few seconds; with 0, only as a step of others.
func flowOf(name string, every int, from, until time.Time, command func(int, int, ...string) []string,
	steps ...check.Step) planned {
	p := planned{Flow: &check.Flow{Name: name, Steps: steps}}
	p.Job.Spells = []check.Spell{{Anchor: from.Add(time.Second), Every: time.Duration(every) * time.Second, From: from,
		Until: until}}
	var bodies []map[string]any
	for _, s := range steps {
		body := map[string]any{"name": s.Name, "after": s.After, "rule": s.Rule, "allowFailure": s.Allow}
		if s.Rule == "" {
			delete(body, "rule")
		}
		if s.After == nil {
			delete(body, "after")
		}
		if s.Finally {
			body["finally"] = true
		}
		if s.Approval {
			approval := map[string]any{"text": "Go on?", "timeout": "6s"}
			if s.Skips {
				approval["onTimeout"] = "skip"
			}
			if s.Param != "" {
				approval["params"] = map[string]any{s.Param: map[string]any{"pattern": `[0-9]+`}}
			}
			body["approval"] = approval
		} else if s.Job != "" {
			body["job"] = s.Job
		} else {
			body["args"] = command(50, 900, "-fail", "20")
		}
		if s.RetryMax > 0 {
			body["retry"] = map[string]any{"max": s.RetryMax, "backoff": "1s"}
		}
		if s.Skipped {
			body["when"] = "false"
		}
		if s.Items > 0 {
			body["forEach"] = map[string]any{"items": make([]string, s.Items)}
		}
		bodies = append(bodies, body)
	}
	p.Body = map[string]any{"name": name, "steps": bodies}
	if every > 0 {
		p.Body["cronExpr"] = fmt.Sprintf("@every %ds", every)
		p.Body["startAt"], p.Body["endAt"] = from.Add(time.Second), until
	}
	return p
}

// finish completes what the checker and the API must know of all of them.
func finish(set []planned) []planned {
	for i := range set {
		p := &set[i]
		name := p.Body["name"].(string)
		p.Job.Name, p.Flow.Name, p.Job.Silent = name, name, true
		p.Job.Overlap, p.Job.OnLost, p.Job.LostAfter = check.Allow, check.Rerun, 20*time.Second
		if p.Job.Spells == nil {
			p.Job.Spells = []check.Spell{{}}
		}
		p.Body["overlap"], p.Body["lostAfter"], p.Body["killGrace"] = check.Allow, "20s", "2s"
		p.Body["startDeadline"], p.Body["onLost"] = "1m", check.Rerun
	}
	return set
}
