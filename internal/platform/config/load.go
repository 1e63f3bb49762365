package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"carillon/internal/common"
)

// ExitCode is the exit code of a daemon with invalid settings (EX_CONFIG of sysexits.h). The systemd units do
// not restart on it; they do restart on 2, with which Go exits after a panic.
const ExitCode = 78

const (
	fileFlag = "config"
	fileEnv  = "CARILLON_CONFIG"
	maxFile  = 1 << 20
)

// environment is the process environment by name.
type environment map[string]string

func environmentOf(environ []string) environment {
	env := environment{}
	for _, entry := range environ {
		if name, text, ok := strings.Cut(entry, "="); ok {
			env[name] = text
		}
	}
	return env
}

// load reads the settings from all sources and returns their errors.
func (s *settings) load(fs *pflag.FlagSet, env environment) common.Faults {
	var faults common.Faults
	path := env[fileEnv]
	if f := fs.Lookup(fileFlag); f != nil && f.Changed {
		path = f.Value.String()
	}
	if path != "" {
		faults = append(faults, s.fromFile(path)...)
	}
	faults = append(faults, s.fromEnvironment(env)...)
	for _, one := range s.list {
		one.value.changed = false
		if f := fs.Lookup(one.flag()); f != nil && f.Changed {
			if err := one.value.Set(f.Value.String()); err != nil {
				faults.Add("--"+one.flag(), "value", nil, "%s", err)
			}
		}
	}
	for _, fill := range s.secrets {
		if fault := fill(env); fault != nil {
			faults = append(faults, *fault)
		}
	}
	return faults
}

// foreign are CARILLON_ variables of other parts of Carillon, which a daemon ignores.
var foreign = [...]string{
	fileEnv,
	// set for a command, if a job starts a daemon
	"CARILLON_JOB", "CARILLON_RUN_ID", "CARILLON_PLANNED_AT", "CARILLON_ATTEMPT", "CARILLON_PREVIOUS_STATUS",
	"CARILLON_FENCE", "CARILLON_INTERVAL_START", "CARILLON_INTERVAL_END",
	"CARILLON_FLOW", "CARILLON_FLOW_RUN", "CARILLON_STEP", "CARILLON_ITEM_INDEX",
	"CARILLON_AFTER", "CARILLON_OUTPUT",
	"CARILLON_WORKER", "CARILLON_WORKER_NAME", "CARILLON_LIFE",
	// read by cronctl
	"CARILLON_SERVER", "CARILLON_TOKEN", "CARILLON_TOKEN_FILE", "CARILLON_CA_FILE", "CARILLON_CERT_FILE",
	"CARILLON_KEY_FILE", "CARILLON_CONTEXT", "CARILLON_CONTEXTS",
}

// foreignPrefixes are prefixes of variables of tests and of a worker's guardian.
var foreignPrefixes = [...]string{"CARILLON_TEST_", "CARILLON_GUARDIAN_"}

func isForeign(name string) bool {
	return slices.Contains(foreign[:], name) ||
		slices.ContainsFunc(foreignPrefixes[:], func(p string) bool { return strings.HasPrefix(name, p) })
}

// fromEnvironment reads the CARILLON_ variables. An empty one counts as absent. Variables of another daemon are
// ignored, so that daemons can share an environment file; unknown ones are refused.
func (s *settings) fromEnvironment(env environment) common.Faults {
	var faults common.Faults
	known := map[string]*setting{}
	for _, one := range s.list {
		known[one.env()] = one
	}
	others := allEnv()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !strings.HasPrefix(name, "CARILLON_") || env[name] == "" || isForeign(name) {
			continue
		}
		one := known[name]
		if one == nil {
			if !others[name] {
				faults = append(faults, unknown(name, "variable", name, slices.Sorted(maps.Keys(known))))
			}
			continue
		}
		one.value.changed = false
		if err := one.value.Set(env[name]); err != nil {
			faults.Add(name, "value", nil, "%s", err)
		}
	}
	return faults
}

// allEnv returns the variables of all daemons.
func allEnv() map[string]bool {
	names := map[string]bool{}
	for _, s := range []*settings{new(Master).settings(), new(Worker).settings(), new(Standalone).settings()} {
		for _, one := range s.list {
			names[one.env()] = true
		}
	}
	return names
}

// refused returns the error for the faults; nil if there are none.
func (s *settings) refused(faults common.Faults) error {
	if len(faults) == 0 {
		return nil
	}
	return common.Invalid(s.program+" has invalid settings", faults...)
}
