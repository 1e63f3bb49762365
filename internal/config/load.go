package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"carillon/internal/common"
)

// ExitCode is how a daemon ends that cannot work with its configuration
// (EX_CONFIG of sysexits.h). The systemd units do not restart on it; Go itself
// ends with 2 after a panic, which they do restart.
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

// load fills the settings from all sources and says what is wrong with them.
func (s *settings) load(fs *pflag.FlagSet, env environment) []common.Fault {
	var faults []common.Fault
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
				faults = append(faults, common.Fault{Location: "--" + one.flag(), Code: "value", Message: err.Error()})
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

// foreign are CARILLON_ variables that belong to other parts of Carillon and may
// stand in a daemon's environment without meaning anything to it.
var foreign = [...]string{
	fileEnv,
	// a command's own, where a daemon is started from a job
	"CARILLON_JOB", "CARILLON_RUN_ID", "CARILLON_PLANNED_AT", "CARILLON_ATTEMPT", "CARILLON_PREVIOUS_STATUS", "CARILLON_FENCE",
	"CARILLON_WORKER", "CARILLON_WORKER_NAME", "CARILLON_LIFE",
	// of tests that start daemons
	"CARILLON_MONGODOUBLE",
	// cronctl's
	"CARILLON_SERVER", "CARILLON_TOKEN", "CARILLON_TOKEN_FILE", "CARILLON_CA_FILE", "CARILLON_CERT_FILE", "CARILLON_KEY_FILE", "CARILLON_CONTEXT", "CARILLON_CONTEXTS",
}

// foreignPrefixes are likewise those of the tests and of a worker's guardian.
var foreignPrefixes = [...]string{"CARILLON_TEST_", "CARILLON_GUARDIAN_"}

func isForeign(name string) bool {
	return slices.Contains(foreign[:], name) ||
		slices.ContainsFunc(foreignPrefixes[:], func(p string) bool { return strings.HasPrefix(name, p) })
}

// fromEnvironment takes the CARILLON_ variables. An empty one counts as absent.
// One that belongs to another daemon is left alone, so that they can share an
// environment file; one that belongs to none is refused.
func (s *settings) fromEnvironment(env environment) []common.Fault {
	var faults []common.Fault
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
			faults = append(faults, common.Fault{Location: name, Code: "value", Message: err.Error()})
		}
	}
	return faults
}

// allEnv are the variables of all daemons.
func allEnv() map[string]bool {
	names := map[string]bool{}
	for _, s := range []*settings{new(Master).settings(), new(Worker).settings(), new(Standalone).settings()} {
		for _, one := range s.list {
			names[one.env()] = true
		}
	}
	return names
}

// refused is the error for the faults, or nil where there are none.
func (s *settings) refused(faults []common.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return common.Invalid(s.program+" cannot work with this configuration", faults...)
}
