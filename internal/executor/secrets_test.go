package executor_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
)

// vault opens secrets that all groups may use, except for those of one group.
type vault map[string]string

func (v vault) Open(_ context.Context, name, group string) ([]byte, *common.Reason) {
	if value, found := v[group+"/"+name]; found {
		return []byte(value), nil
	}
	return nil, &common.Reason{
		Code: common.ReasonSecretMissing,
		Text: "no secret " + name,
		Data: map[string]string{"secret": name},
	}
}

func withSecrets(s executor.Secrets) func(*executor.Config) {
	return func(c *executor.Config) { c.Secrets = s }
}

const (
	canary = "canary-4711-swordfish"
	pem    = "-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEIB7P4rEkRZ\nr4d0fdoYDrvCOXJ6Vs5Uz6\n-----END KEY-----\n"
)

func TestSecretsOfJobs(t *testing.T) {
	x := newExecutor(t, withSecrets(vault{"reports/db": canary, "reports/key": pem}), masking("of-the-worker"))
	for name, c := range map[string]struct {
		env     map[string]string
		params  map[string]common.Param
		given   map[string]string
		command string
		prints  string
	}{
		"in its variable": {
			env:     map[string]string{"PGPASSWORD": "secret:db"},
			command: `[ "$PGPASSWORD" = ` + canary + ` ] && echo same`,
			prints:  "same\n",
		},
		"not in what it prints": {
			env:     map[string]string{"PGPASSWORD": "secret:db"},
			command: `echo "$PGPASSWORD" of-the-worker`,
			prints:  "[secret:db] [secret:s0]\n",
		},
		"not line by line": {
			env:     map[string]string{"KEY": "secret:key"},
			command: `printf '%s' "$KEY" | sed 's/^/| /' | sed -n 2,3p`,
			prints:  "| [secret:key]\n| [secret:key]\n",
		},
		"not in another's": {
			env:     map[string]string{"A": "plain"},
			command: "echo " + canary,
			prints:  canary + "\n",
		},
		"not by a parameter": {
			params:  map[string]common.Param{"P": {}},
			given:   map[string]string{"P": "secret:db"},
			command: `printf '%s' "$P"`,
			prints:  "secret:db",
		},
		"not on a command line": {
			env:     map[string]string{"PGPASSWORD": "secret:db"},
			command: `tr '\0' ' ' </proc/$$/cmdline | grep -c '4[7]11'; tr '\0' ' ' </proc/$PPID/cmdline | grep -c '4[7]11'; true`,
			prints:  "0\n0\n",
		},
		"not a default of param": {
			params:  map[string]common.Param{"P": {Default: "secret:db"}},
			command: `printf '%s' "$P"`,
			prints:  "secret:db",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := newTask(common.Job{Group: "reports", Command: c.command, Env: c.env, Params: c.params})
			task.Record.Params = c.given
			out := record(t, task)
			expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
			if out.text() != c.prints {
				t.Errorf("printed %q, want %q", out.text(), c.prints)
			}
		})
	}
}

// Without one of its secrets a job does not run at all.
func TestMissingSecret_RunIsRefused(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "ran")
	for name, c := range map[string]struct {
		secrets executor.Secrets
		group   string
	}{
		"none of that name": {vault{"reports/other": canary}, "reports"},
		"another group":     {vault{"reports/db": canary}, "backup"},
		"no secrets at all": {nil, "reports"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, withSecrets(c.secrets))
			task := newTask(common.Job{
				Group:   c.group,
				Command: "touch " + trace,
				Env:     map[string]string{"B": "secret:db"},
			})
			out := record(t, task)
			got := x.Run(t.Context(), task, out)
			expect(t, got, common.StatusRefused, common.ReasonSecretMissing)
			if _, err := os.Stat(trace); err == nil || got.StartedAt != nil || got.Reason.Data["secret"] != "db" {
				t.Errorf("started at %v, %+v", got.StartedAt, got.Reason)
			}
		})
	}
}

// slowVault answers after its context has ended.
type slowVault struct{}

func (slowVault) Open(ctx context.Context, name, _ string) ([]byte, *common.Reason) {
	<-ctx.Done()
	return nil, &common.Reason{Code: common.ReasonSecretsAway, Text: "etcd does not answer"}
}

func TestKilledWhileItWaitsForSecrets(t *testing.T) {
	x := newExecutor(t, withSecrets(slowVault{}))
	ctx, cancel := context.WithCancelCause(t.Context())
	task := newTask(common.Job{Command: "true", Env: map[string]string{"A": "secret:db"}})
	_, wait := background(t, ctx, x, task)
	cancel(inside.Killed{By: "ann"})
	expect(t, wait(), common.StatusKilled, "killed_by_user")
}

func TestReason_ContainsNoSecret(t *testing.T) {
	x := newExecutor(t, withSecrets(vault{"/path": "/canary-4711/bin"}))
	task := newTask(common.Job{Args: []string{"no-such-tool"}, Env: map[string]string{"PATH": "secret:path"}})
	got := x.Run(t.Context(), task, record(t, task))
	expect(t, got, common.StatusFailed, "program_missing")
	if strings.Contains(got.Reason.Text, "canary") || !strings.Contains(got.Reason.Text, "[secret:path]") {
		t.Errorf("%+v", got.Reason)
	}
}
