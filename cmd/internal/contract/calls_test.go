package contract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

// reach is where a caller must have a role for a call.
type reach int

const (
	open          reach = iota // nowhere: callers without a token as well
	authenticated              // nowhere: any authenticated caller
	somewhere                  // in any group
	ofGroup                    // in the group that the call is about
	groupIfAny                 // in the group that the call is about; in any group if it is about none
	everywhere                 // in all groups
	ownerOnly                  // the object belongs to another user: only the caller that also returns
)

// call is how an operation is called so that it succeeds, and who may call it. In target and body, {job}, {group},
// {label}, {run}, {fire}, {version}, {worker} and the names that before sets are replaced by those of the object that
// the call is about.
type call struct {
	need    access.Role
	reach   reach
	target  string
	body    string
	headers []string // names and values in turn
	// before creates what the call needs. It is called again after each successful call.
	before func(s *stack, o *object)
	follow bool // the response does not end
	// says is the role that the document requires, if it is not the one that is needed for an object of another user.
	says string
	want int // expected status of success, if the document has several; 0 for any of them
	// leads is a part of the address that success redirects to; "" without a redirect.
	leads string
	// refused is the status for callers without permission, if it is not 403: the object's existence is hidden from
	// them.
	refused int
	// also returns a further caller with permission, for objects that belong to one user.
	also func(s *stack, o *object) actor
}

// viewed is a request that viewers of any group may send.
func viewed(target string) call { return call{need: access.Viewer, reach: somewhere, target: target} }

// viewedInGroup is a request that viewers of the object's group may send.
func viewedInGroup(target string) call {
	return call{need: access.Viewer, reach: ofGroup, target: target}
}

// calls has one call for each operation of the document, by its id. A new operation needs an entry.
var calls = map[string]call{
	// jobs
	"list-jobs": viewed("/api/v1/jobs?include=results,next,stats"),
	"create-job": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs?note=for+the+audit",
		body:   `{"name":"new-{label}","group":"{group}","command":"true"}`,
		before: without("/api/v1/jobs/new-{label}"),
	},
	"validate-job": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs/validate?placement=true",
		body:   `{"name":"{job}","group":"{group}","command":"true"}`,
	},
	"get-job": viewed("/api/v1/jobs/{job}"),
	"put-job": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs/put-{label}?note=for+the+audit",
		body:   `{"name":"put-{label}","group":"{group}","command":"echo {hush}"}`,
	},
	"delete-job": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs/gone-{label}?kill=true",
		before: spare("gone"),
	},
	"run-job": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/jobs/ran-{label}/run",
		body:   `{"note":"by hand"}`,
		before: spare("ran"),
	},
	"restart-job": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/jobs/daemon-{label}/restart",
		body:   `{"note":"it leaks memory"}`,
		before: consumer,
	},
	"pause-job": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/jobs/paused-{label}/pause",
		body:   `{"note":"for now"}`,
		before: spare("paused"),
	},
	"resume-job": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/jobs/paused-{label}/resume",
		before: spare("paused"),
	},

	"patch-job": {
		need:    access.Editor,
		reach:   ofGroup,
		target:  "/api/v1/jobs/patched-{label}",
		body:    `{"title":"another","timeout":"10m"}`,
		headers: []string{"Content-Type", "application/merge-patch+json"},
		before:  spare("patched"),
	},
	"rollback-job": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs/{job}/rollback",
		body:   `{"version":{version}}`,
	},
	"apply-jobs": {
		need:   access.Editor,
		reach:  somewhere,
		target: "/api/v1/jobs/apply",
		body:   `{"jobs":[{"name":"applied-{label}","group":"{group}","command":"echo {hush}"}]}`,
	},
	"bulk-jobs": {
		need:   access.Operator,
		reach:  somewhere,
		target: "/api/v1/jobs/bulk",
		body:   `{"action":"pause","note":"for now","jobs":["paused-{label}","none"]}`,
		before: spare("paused"),
	},
	"patch-jobs": {
		need:   access.Editor,
		reach:  somewhere,
		target: "/api/v1/jobs",
		body:   `{"jobs":["patched-{label}","none"],"patch":{"retry":{"max":3},"labels":{"team":"data"}}}`,
		before: spare("patched"),
	},

	"list-groups": viewed("/api/v1/groups"),
	"list-labels": viewed("/api/v1/labels"),

	"list-replicas":   viewed("/api/v1/jobs/{job}/replicas"),
	"get-placement":   viewed("/api/v1/jobs/{job}/placement"),
	"list-versions":   viewedInGroup("/api/v1/jobs/{job}/versions"),
	"get-job-version": viewedInGroup("/api/v1/jobs/{job}/versions/{version}"),

	"diff-job-versions": viewedInGroup("/api/v1/jobs/{job}/versions/{version}/diff"),

	// fires and runs
	"list-fires":       viewed("/api/v1/fires"),
	"list-job-fires":   viewed("/api/v1/jobs/{job}/fires"),
	"get-job-calendar": viewed("/api/v1/jobs/{job}/calendar?from=2026-03-28&to=2026-03-30"),
	"acknowledge-fires": {
		need:   access.Operator,
		reach:  somewhere,
		target: "/api/v1/fires/acknowledge",
		body:   `{"fires":["{fire}","none.t1"],"note":"known"}`,
	},
	"rerun-fires": {
		need:   access.Operator,
		reach:  somewhere,
		target: "/api/v1/fires/rerun",
		body:   `{"fires":["{fire}","none.t1"]}`,
	},
	"get-forecast": viewed("/api/v1/forecast?by=hour"),
	"list-runs":    viewed("/api/v1/runs?limit=10"),
	"get-run":      viewed("/api/v1/runs/{run}"),
	"kill-run": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/runs/{waiting}/kill",
		body:   `{"note":"enough"}`,
		before: waiting,
	},
	"list-run-nodes": {need: access.Viewer, reach: somewhere, target: "/api/v1/runs/{flowrun}/nodes", before: flowRun},
	"pause-run": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/runs/{flowrun}/pause",
		body:   `{"note":"for now"}`,
		before: flowRun,
	},
	"resume-run": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/runs/{flowrun}/resume",
		body:   `{"note":"go on"}`,
		before: pausedFlowRun,
	},
	"approve-step": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/runs/{flowrun}/approve",
		body:   `{"step":"publish","note":"looks right"}`,
		before: flowRun,
	},
	"reject-step": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/runs/{flowrun}/reject",
		body:   `{"step":"publish","note":"not yet"}`,
		before: flowRun,
	},
	"list-approvals": {need: access.Viewer, reach: somewhere, target: "/api/v1/approvals?job=flow-{label}",
		before: flowRun},
	"get-grid":      {need: access.Viewer, reach: somewhere, target: "/api/v1/jobs/flow-{label}/grid", before: flowRun},
	"get-job-graph": {need: access.Viewer, reach: ofGroup, target: "/api/v1/jobs/flow-{label}/graph", before: flowRun},
	"rerun-run": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/runs/{ended}/rerun",
		body:   `{"accept":["load"],"note":"loaded by hand"}`,
		before: endedFlowRun,
	},
	"get-output":    {need: access.Viewer, reach: ofGroup, target: "/api/v1/runs/{run}/output", want: http.StatusOK},
	"get-usage":     viewedInGroup("/api/v1/runs/{run}/usage"),
	"search-output": viewedInGroup("/api/v1/runs/{run}/output/search?q=hush"),
	"follow-output": viewedInGroup("/api/v1/runs/{run}/output/stream"),
	"search-runs":   viewed("/api/v1/runs/search?q=hush"),

	// workers
	"list-masters":       viewed("/api/v1/masters"),
	"list-types":         viewed("/api/v1/types"),
	"get-type":           viewed("/api/v1/types/http"),
	"list-workers":       viewed("/api/v1/workers"),
	"get-worker":         viewed("/api/v1/workers/{worker}"),
	"get-exclusive-jobs": viewed("/api/v1/workers/{worker}/exclusive-jobs"),
	"patch-worker": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/workers/{worker}",
		body:   `{"labels":{"zone":"a"},"slots":null}`,
	},
	"drain-worker": {
		need:   access.Operator,
		reach:  everywhere,
		target: "/api/v1/workers/{worker}/drain",
		body:   `{"note":"new disk"}`,
	},
	"undrain-worker": {need: access.Operator, reach: everywhere, target: "/api/v1/workers/{worker}/undrain"},
	"delete-worker-settings": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/workers/gone/settings",
		before: func(s *stack, _ *object) {
			s.put(common.WorkerSettingsKey("gone"), common.WorkerSettings{Drain: true})
		},
	},

	// notifications
	"list-channels": {need: access.Viewer, reach: somewhere, target: "/api/v1/channels?include=last", before: channel},
	"get-channel":   {need: access.Viewer, reach: somewhere, target: "/api/v1/channels/ops", before: channel},
	"put-channel": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/channels/dev",
		body:   `{"kind":"webhook","url":"https://hooks.example.com/{hush}"}`,
	},
	"delete-channel":  {need: access.Admin, reach: everywhere, target: "/api/v1/channels/ops", before: channel},
	"test-channel":    {need: access.Admin, reach: everywhere, target: "/api/v1/channels/ops/test", before: channel},
	"list-deliveries": viewed("/api/v1/deliveries"),
	"retry-delivery": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/deliveries/{delivery}/retry",
		before: delivery,
	},

	// backfills
	"create-backfill": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/jobs/{past}/backfills",
		body: `{"from":"2026-01-01T00:00:00Z","to":"2026-01-04T00:00:00Z","includeUnknown":true,"concurrency":2,` +
			`"note":"once more"}`,
		before: dated,
		want:   http.StatusAccepted,
	},
	"list-backfills": viewed("/api/v1/backfills"),
	"get-backfill":   {need: access.Viewer, reach: ofGroup, target: "/api/v1/backfills/{backfill}", before: backfill},
	"pause-backfill": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/backfills/{backfill}/pause",
		before: backfill,
	},
	"resume-backfill": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/backfills/{backfill}/resume",
		before: func(s *stack, o *object) {
			backfill(s, o)
			s.ask(http.MethodPost, "/api/v1/backfills/"+o.vars["backfill"]+"/pause", nil, nil)
		},
	},
	"cancel-backfill": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/backfills/{backfill}/cancel",
		body:   `{"note":"wrong range"}`,
		before: backfill,
	},

	// secrets
	"list-secrets": {need: access.Editor, reach: somewhere, target: "/api/v1/secrets", before: secret},
	"get-secret":   {need: access.Editor, reach: groupIfAny, target: "/api/v1/secrets/db-{label}", before: secret},
	"put-secret": {
		need:   access.Admin,
		reach:  ofGroup,
		target: "/api/v1/secrets/db-{label}",
		body:   `{"value":"{hush} again","groups":{groups}}`,
		before: secret,
	},
	"delete-secret": {need: access.Admin, reach: ofGroup, target: "/api/v1/secrets/db-{label}", before: secret},

	// views
	"list-views": {need: access.Viewer, reach: somewhere, target: "/api/v1/views", before: sharedView},
	"put-view":   {need: access.Viewer, reach: somewhere, target: "/api/v1/views/put-{label}", body: viewBody},
	"delete-view": {
		need:   access.Editor,
		says:   "viewer",
		reach:  somewhere,
		target: "/api/v1/views/shared-{label}?shared=true",
		before: sharedView,
	},

	// hooks
	"list-hooks": {need: access.Operator, reach: ofGroup, target: "/api/v1/jobs/{job}/hooks", before: hook},
	"create-hook": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs/{job}/hooks",
		body:   `{"name":"deploy","signature":"github","params":{"P":{"path":"$.ref"}}}`,
		before: withoutHook,
	},
	"put-hook": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs/{job}/hooks/deploy",
		body:   `{"rate":10,"params":{"P":{"field":"branch"}}}`,
		before: hook,
	},
	"rotate-hook": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/jobs/{job}/hooks/deploy/rotate",
		body:   `{"secret":true}`,
		before: hook,
	},
	"delete-hook": {need: access.Editor, reach: ofGroup, target: "/api/v1/jobs/{job}/hooks/deploy", before: hook},
	"call-hook": {
		reach:  open,
		target: "/api/v1/hooks/{key}",
		body:   `{"ref":"refs/heads/main"}`,
		before: hook,
	},

	// locks
	"list-locks": viewed("/api/v1/locks"),
	"get-lock": {
		need:   access.Viewer,
		reach:  ofGroup,
		target: "/api/v1/locks/{label}.held",
		before: heldLock,
	},
	"acquire-lock": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/locks/{label}.free",
		body:   `{"id":"host-1:4711","session":"` + lockSession + `","ttl":"10s","grace":"30s","wait":"1s"}`,
	},
	"keep-lock-alive": lockCall("keepalive", ""),
	"note-lock":       lockCall("note", `,"note":"row 17"`),
	"release-lock":    lockCall("release", ""),
	"force-release-lock": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/locks/{label}.held",
		before: heldLock,
	},

	// maintenance windows
	"list-maintenance": viewed("/api/v1/maintenance"),
	"get-maintenance": {
		need:   access.Viewer,
		reach:  ofGroup,
		target: "/api/v1/maintenance/{label}",
		before: window,
	},
	"put-maintenance": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/maintenance/put-{label}",
		body:   windowBody,
	},
	"end-maintenance": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/maintenance/{label}/end",
		before: window,
	},
	"delete-maintenance": {
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/maintenance/{label}",
		before: window,
	},

	// pools
	"list-pools": {need: access.Viewer, reach: somewhere, target: "/api/v1/pools", before: pool},
	"get-pool":   {need: access.Viewer, reach: somewhere, target: "/api/v1/pools/{label}", before: pool},
	"put-pool": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/pools/{label}.new",
		body:   `{"slots":5,"group":"{group}"}`,
	},
	"delete-pool": {need: access.Editor, reach: ofGroup, target: "/api/v1/pools/{label}", before: pool},

	// defaults
	"list-defaults": {need: access.Viewer, reach: somewhere, target: "/api/v1/defaults", before: defaults},
	"put-defaults": {
		need:   access.Editor,
		reach:  ofGroup,
		target: "/api/v1/defaults?group={scope}",
		body:   `{"retry":{"max":2},"notify":{"on":["failed","missed"],"to":["ops"]},"env":{"REGION":"eu"}}`,
		before: defaults,
	},
	"list-defaults-versions": {
		need:   access.Viewer,
		reach:  groupIfAny,
		target: "/api/v1/defaults/versions?group={scope}",
		before: defaults,
	},

	// schedules and statistics
	"parse-crontab": {need: access.Viewer, reach: somewhere, target: "/api/v1/crontab/parse",
		body: `{"text":"MAILTO=ops\n# Nightly report\n30 2 * * * make report\n@reboot /bin/true\n61 * * * * date\n","timezone":"Europe/Berlin","group":"{group}"}`},
	"preview-schedule": {
		need:   access.Viewer,
		reach:  somewhere,
		target: "/api/v1/schedules/preview",
		body:   `{"cronExpr":"30 2 * * *","timezone":"Europe/Berlin","count":3}`,
	},
	"get-overview":       viewed("/api/v1/stats/overview"),
	"get-statistics":     viewed("/api/v1/stats/runs?by=hour&workers=true"),
	"get-job-statistics": viewed("/api/v1/stats/jobs/{job}"),

	// access
	"login":         {reach: open, target: "/api/v1/auth/login", body: `{"token":"{admin}"}`},
	"login-methods": {reach: open, target: "/api/v1/auth/methods"},
	"oidc-start": {
		reach:  open,
		target: "/api/v1/auth/oidc/start?to=/jobs",
		want:   http.StatusFound,
		leads:  "/authorize?",
	},
	"oidc-callback": {
		reach:   open,
		target:  "/api/v1/auth/oidc/callback?{answer}&session_state=s",
		headers: []string{"Cookie", "{attempt}"},
		before:  attempt,
		want:    http.StatusFound,
		leads:   "/jobs",
	},
	"logout": {reach: authenticated, target: "/api/v1/auth/logout"},
	"me":     {reach: authenticated, target: "/api/v1/auth/me"},
	"change-password": {
		reach:   ownerOnly,
		refused: http.StatusConflict,
		target:  "/api/v1/auth/password",
		body:    `{"current":"{password}","new":"blue horse under a bridge"}`,
		also:    ann,
	},

	"list-sessions": {reach: authenticated, target: "/api/v1/sessions"},
	"delete-session": {
		need:    access.Admin,
		reach:   everywhere,
		says:    "authenticated",
		refused: http.StatusNotFound,
		target:  "/api/v1/sessions/{session}",
		before:  session,
	},

	"list-tokens": viewed("/api/v1/tokens"),
	"create-token": {
		need:   access.Admin,
		reach:  everywhere,
		says:   "viewer",
		target: "/api/v1/tokens",
		body:   `{"name":"for a script","role":"viewer"}`,
		also:   annsSession,
	},
	"get-token": {
		need:    access.Admin,
		reach:   everywhere,
		says:    "viewer",
		refused: http.StatusNotFound,
		target:  "/api/v1/tokens/{token}",
		before:  token,
		also:    ann,
	},
	"delete-token": {
		need:    access.Admin,
		reach:   everywhere,
		says:    "viewer",
		refused: http.StatusNotFound,
		target:  "/api/v1/tokens/{token}",
		before:  token,
		also:    ann,
	},

	"list-users": {need: access.Admin, reach: everywhere, target: "/api/v1/users"},
	"create-user": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/users",
		body:   `{"name":"bob-{label}","groups":{"ours":"editor"}}`,
		before: without("/api/v1/users/bob-{label}"),
	},
	"get-user": {need: access.Admin, reach: everywhere, target: "/api/v1/users/{user}", before: user},
	"patch-user": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/users/{user}",
		body:   `{"title":"Ann Lee"}`,
		before: user,
	},
	"delete-user": {need: access.Admin, reach: everywhere, target: "/api/v1/users/{user}", before: user},

	"list-audit":   {need: access.Admin, reach: everywhere, target: "/api/v1/audit?limit=5"},
	"verify-audit": {need: access.Admin, reach: everywhere, target: "/api/v1/audit/verify?links=true&limit=5"},

	// system
	"follow-events": {need: access.Viewer, reach: somewhere, target: "/api/v1/events?since=1", follow: true},

	"healthz":    {reach: open, target: "/healthz"},
	"readyz":     {reach: open, target: "/readyz"},
	"get-doctor": viewed("/api/v1/system/doctor"),
	"delete-record": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/system/records?key=" + common.ChannelsPrefix + "damaged&revision={revision}",
		before: damaged,
	},
	"recover": {
		need:   access.Admin,
		reach:  everywhere,
		target: "/api/v1/system/recover",
		body:   `{"restored":true,"dryRun":true}`,
	},
	"version": viewed("/version"),
}

// without deletes an object that an earlier call created.
func without(target string) func(*stack, *object) {
	return func(s *stack, o *object) {
		if a := s.do(s.admin, request{
			method: http.MethodDelete,
			target: o.fill(target),
		}); a.status != http.StatusNoContent && a.status != http.StatusNotFound {
			s.t.Fatalf("%s: %d %s", target, a.status, a.body)
		}
	}
}

// spare creates a job that the call may delete.
func spare(name string) func(*stack, *object) {
	return func(s *stack, o *object) {
		name := name + "-" + o.vars["label"]
		s.ask(http.MethodPut, "/api/v1/jobs/"+name, map[string]any{
			"name":        name,
			"group":       o.group,
			"command":     "echo " + o.vars["hush"],
			"description": o.vars["hush"],
		}, nil)
	}
}

// damaged writes a channel that does not decode.
func damaged(s *stack, o *object) {
	resp, err := s.etcd.Put(s.t.Context(), common.ChannelKey("damaged"), "{"+o.vars["hush"])
	if err != nil {
		s.t.Fatal(err)
	}
	o.vars["revision"] = strconv.FormatInt(resp.Header.Revision, 10)
}

// consumer creates a daemon job.
func consumer(s *stack, o *object) {
	name := "daemon-" + o.vars["label"]
	s.ask(http.MethodPut, "/api/v1/jobs/"+name, map[string]any{"name": name, "group": o.group,
		"command": "exec sleep 1000 # " + o.vars["hush"], "paused": true, "daemon": map[string]any{"count": 1}}, nil)
}

// dated creates a job with past fires, and without a backfill.
func dated(s *stack, o *object) {
	name := fmt.Sprintf("past-%s-%d", o.vars["label"], time.Now().UnixNano())
	s.ask(http.MethodPut, "/api/v1/jobs/"+name, map[string]any{"name": name, "group": o.group, "cronExpr": "0 3 * * *",
		"command": "echo " + o.vars["hush"]}, nil)
	o.vars["past"] = name
}

// backfill creates a backfill that waits.
func backfill(s *stack, o *object) {
	dated(s, o)
	var begun struct{ ID string }
	s.ask(http.MethodPost, "/api/v1/jobs/"+o.vars["past"]+"/backfills",
		map[string]any{"from": "2026-01-01T00:00:00Z", "to": "2026-01-04T00:00:00Z", "includeUnknown": true},
		&begun)
	o.vars["backfill"] = begun.ID
}

// waiting creates a run that waits.
func waiting(s *stack, o *object) {
	spare("killed")(s, o)
	var asked struct{ Run string }
	s.ask(http.MethodPost, "/api/v1/jobs/killed-"+o.vars["label"]+"/run",
		map[string]any{"note": o.vars["hush"]}, &asked)
	o.vars["waiting"] = asked.Run
}

func channel(s *stack, _ *object) {
	s.ask(http.MethodPut, "/api/v1/channels/ops", map[string]any{
		"kind": "webhook",
		"url":  "https://127.0.0.1:1/hook",
	}, nil)
}

// delivery creates a failed delivery: no channel may call an address of this machine.
func delivery(s *stack, o *object) {
	channel(s, o)
	var d struct{ ID string }
	s.ask(http.MethodPost, "/api/v1/channels/ops/test", nil, &d)
	o.vars["delivery"] = d.ID
}

// secret creates a secret for the group of the object, or for all.
func secret(s *stack, o *object) {
	groups := []string{o.group}
	o.vars["groups"] = `["` + o.group + `"]`
	if o.group == "" {
		groups, o.vars["groups"] = nil, `[]`
	}
	s.ask(http.MethodPut, o.fill("/api/v1/secrets/db-{label}"), map[string]any{
		"value":  o.vars["hush"] + " of all",
		"groups": groups,
	}, nil)
}

// withoutHook deletes the hook of the object's job, if it has one.
func withoutHook(s *stack, o *object) {
	a := s.do(s.admin, request{method: http.MethodDelete, target: o.fill("/api/v1/jobs/{job}/hooks/deploy")})
	if a.status != http.StatusNoContent && a.status != http.StatusNotFound {
		s.t.Fatalf("%d %s", a.status, a.body)
	}
}

// hook creates a hook of the object's job.
func hook(s *stack, o *object) {
	withoutHook(s, o)
	var made struct{ URL string }
	s.ask(http.MethodPost, o.fill("/api/v1/jobs/{job}/hooks"), map[string]any{
		"name":   "deploy",
		"params": map[string]any{"P": map[string]string{"path": "$.ref"}},
	}, &made)
	o.vars["key"] = made.URL[strings.LastIndex(made.URL, "/")+1:]
}

// password is that of created users.
const password = "a horse under a blue bridge"

// user creates a user with a new name.
func user(s *stack, o *object) {
	*s.made++
	o.vars["user"], o.vars["password"] = fmt.Sprintf("ann-%d", *s.made), password
	s.ask(http.MethodPost, "/api/v1/users", map[string]any{
		"name":     o.vars["user"],
		"role":     "viewer",
		"password": password,
	}, nil)
}

// token creates a user with a token.
func token(s *stack, o *object) {
	user(s, o)
	var made struct{ ID, Token string }
	s.ask(http.MethodPost, "/api/v1/tokens", map[string]any{
		"name": "a token",
		"role": "viewer",
		"user": o.vars["user"],
	}, &made)
	o.vars["token"], o.vars["secret"] = made.ID, made.Token
}

// session creates a user with a login session.
func session(s *stack, o *object) {
	user(s, o)
	a := s.do(actor{}, request{
		method: http.MethodPost,
		target: "/api/v1/auth/login",
		body:   o.fill(`{"user":"{user}","password":"{password}"}`),
	})
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.status != http.StatusOK || cookie == "" {
		s.t.Fatalf("login: %d %s", a.status, a.body)
	}
	o.vars["cookie"] = cookie
	var all struct{ Items []struct{ ID, User string } }
	s.ask(http.MethodGet, "/api/v1/sessions", nil, &all)
	for _, one := range all.Items {
		if one.User == o.vars["user"] {
			o.vars["session"] = one.ID
		}
	}
}

// attempt begins a login at the identity provider, which answers at once.
func attempt(s *stack, o *object) {
	begun := s.do(actor{}, request{method: http.MethodGet, target: "/api/v1/auth/oidc/start?to=/jobs"})
	o.vars["attempt"], _, _ = strings.Cut(begun.header.Get("Set-Cookie"), ";")
	resp, err := s.client.Get(begun.header.Get("Location"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		s.t.Fatal(err)
	}
	o.vars["answer"] = back.RawQuery
}

// ann returns the user Ann with her token.
func ann(s *stack, o *object) actor {
	token(s, o)
	return actor{name: "ann", token: o.vars["secret"], role: access.Viewer}
}

// annsSession returns Ann with a login session.
func annsSession(s *stack, o *object) actor {
	session(s, o)
	return actor{name: "ann", cookie: o.vars["cookie"], role: access.Viewer}
}

// windowBody is a maintenance window of the group of the call.
const windowBody = `{"to":"2099-01-01T00:00:00Z","from":"2098-12-31T00:00:00Z","groups":["{group}"],"note":"x"}`

// window creates a maintenance window, which is open.
func window(s *stack, o *object) {
	to, err := json.Marshal(time.Now().Add(time.Hour).UTC())
	if err != nil {
		s.t.Fatal(err)
	}
	s.ask(http.MethodPut, o.fill("/api/v1/maintenance/{label}"),
		json.RawMessage(o.fill(`{"groups":["{group}"],"policy":"skip","to":`+string(to)+`}`)), nil)
}

// lockSession is the session of all locks, and lockBody acquires one.
const (
	lockSession = "6b23c0d5f35d1b11f9b683f0b0a617355deb11277d91ae091d399c655b87940d"
	lockBody    = `{"id":"host-1:4711","session":"` + lockSession + `"}`
)

// heldLock acquires a lock.
func heldLock(s *stack, o *object) {
	s.ask(http.MethodPost, o.fill("/api/v1/locks/{label}.held"), json.RawMessage(lockBody), nil)
}

// lockCall is a request of the holder of a lock.
func lockCall(action, fields string) call {
	return call{
		need:   access.Operator,
		reach:  ofGroup,
		target: "/api/v1/locks/{label}.held/" + action,
		body:   `{"session":"` + lockSession + `"` + fields + `}`,
		before: heldLock,
	}
}

// pool creates a pool of the group.
func pool(s *stack, o *object) {
	s.ask(http.MethodPut, o.fill("/api/v1/pools/{label}"), map[string]any{"slots": 3, "group": o.fill("{group}")}, nil)
}

// defaults gives the group defaults; without a group, all jobs.
func defaults(s *stack, o *object) {
	o.vars["scope"] = cmp.Or(o.group, common.AllGroups)
	s.ask(http.MethodPut, o.fill("/api/v1/defaults?group={scope}"), map[string]any{"timeout": "2h"}, nil)
}

const viewBody = `{"name":"Paused in {label}","query":"group={group}&state=paused"}`

// sharedView creates a shared view.
func sharedView(s *stack, o *object) {
	s.ask(http.MethodPut, o.fill("/api/v1/views/shared-{label}"), map[string]any{
		"name":   "Paused",
		"query":  o.fill("group={group}&state=paused"),
		"shared": true,
	}, nil)
}
