package common

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a job's parameters.
const (
	MaxParams       = 32
	MaxParamPattern = 256      // bytes of its text
	MaxParam        = 4 << 10  // bytes of a value
	MaxParamsGiven  = 16 << 10 // bytes of all values of one trigger
)

// guarded are variables that decide what a shell, the loader or a common interpreter runs: a user who may only trigger
// a job must not be able to run other code by setting them.
var guarded = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "TMPDIR": true,
	"IFS": true, "ENV": true, "BASH_ENV": true, "SHELLOPTS": true, "BASHOPTS": true, "PS4": true,
	"PROMPT_COMMAND": true,
	"CDPATH":         true, "GLOBIGNORE": true, "ZDOTDIR": true, "FPATH": true, "_": true,
	"GCONV_PATH": true, "GLIBC_TUNABLES": true, "HOSTALIASES": true, "LOCPATH": true, "NLSPATH": true,
	"RESOLV_HOST_CONF": true,
	"TZDIR":            true, "TERMINFO": true, "TERMCAP": true, "EDITOR": true, "VISUAL": true, "PAGER": true,
	"BROWSER":    true,
	"PYTHONPATH": true, "PYTHONHOME": true, "PYTHONSTARTUP": true, "PYTHONINSPECT": true, "PERL5LIB": true,
	"PERLLIB":  true,
	"PERL5OPT": true, "PERL5DB": true, "RUBYLIB": true, "RUBYOPT": true, "NODE_OPTIONS": true, "NODE_PATH": true,
	"JAVA_TOOL_OPTIONS": true, "_JAVA_OPTIONS": true, "JDK_JAVA_OPTIONS": true, "CLASSPATH": true, "PHPRC": true,
	"PHP_INI_SCAN_DIR": true,
	"LUA_INIT":         true, "LUA_PATH": true, "LUA_CPATH": true, "OPENSSL_CONF": true, "OPENSSL_ENGINES": true,
	"OPENSSL_MODULES": true,
	"GIT_ASKPASS":     true, "GIT_EDITOR": true, "GIT_EXEC_PATH": true, "GIT_EXTERNAL_DIFF": true, "GIT_PAGER": true,
	"GIT_PROXY_COMMAND": true,
	"GIT_SSH":           true, "GIT_SSH_COMMAND": true, "GIT_TEMPLATE_DIR": true, "SSH_ASKPASS": true,
	"MAKEFLAGS":    true,
	"GNUMAKEFLAGS": true, "MAKEFILES": true, "MFLAGS": true, "TAR_OPTIONS": true, "RSYNC_RSH": true,
	"PYTHONUSERBASE": true, "PYTHONPLATLIBDIR": true,
	"XDG_CONFIG_HOME": true, "GIT_DIR": true, "GIT_WORK_TREE": true, "DOTNET_STARTUP_HOOKS": true, "PSQLRC": true,
	"LESSOPEN": true, "LESSCLOSE": true,
	"MANPAGER": true, "KUBECONFIG": true, "AWS_CONFIG_FILE": true, "AWS_SHARED_CREDENTIALS_FILE": true,
	"GOFLAGS": true, "GOENV": true, "GOTOOLCHAIN": true, "MAVEN_OPTS": true, "GRADLE_OPTS": true, "JAVA_OPTS": true,
	"RUSTC": true, "RUSTC_WRAPPER": true, "RUSTFLAGS": true, "CC": true, "CXX": true, "PERL5SHELL": true,
	"RESTIC_PASSWORD_COMMAND": true, "BORG_RSH": true, "BORG_PASSCOMMAND": true, "RCLONE_CONFIG": true,
	"RCLONE_PASSWORD_COMMAND": true, "BASH_LOADABLES_PATH": true, "SSLKEYLOGFILE": true, "INPUTRC": true,
	"CURL_HOME": true, "WGETRC": true, "NETRC": true, "GNUPGHOME": true, "DOCKER_CONFIG": true, "DOCKER_HOST": true,
	"TF_CLI_CONFIG_FILE": true, "XDG_CONFIG_DIRS": true, "XDG_DATA_DIRS": true,
}

// guardedPrefixes are the prefixes of further such variables.
var guardedPrefixes = [...]string{"CARILLON_", "LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "MALLOC_", "NPM_CONFIG_",
	"npm_config_", "ANSIBLE_", "PIP_", "BUNDLE_", "CARGO_", "TF_CLI_ARGS"}

// mayDecide are the ends of names of variables in which programs expect commands or options. A parameter of such a name
// is pointed out.
var mayDecide = [...]string{"_COMMAND", "_CMD", "_RSH", "_OPTS", "_OPTIONS", "FLAGS"}

// MayDecideWhatRuns returns the parameters whose names suggest that a program takes commands or options from them, in
// order.
func (j *Job) MayDecideWhatRuns() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(j.Params)) {
		if slices.ContainsFunc(mayDecide[:], func(end string) bool { return strings.HasSuffix(name, end) }) {
			names = append(names, name)
		}
	}
	return names
}

// DecidesWhatRuns reports whether a variable decides what a shell, the loader or a common interpreter runs.
func DecidesWhatRuns(name string) bool { return !mayBeParam(name) }

// mayBeParam reports whether a trigger may set a variable.
func mayBeParam(name string) bool {
	return !guarded[name] && !slices.ContainsFunc(guardedPrefixes[:], func(p string) bool {
		return strings.HasPrefix(name, p)
	})
}

func (j *Job) paramFaults(c *checker) {
	c.most("params", len(j.Params), MaxParams)
	for _, name := range slices.Sorted(maps.Keys(j.Params)) {
		location := "params." + Excerpt(name)
		switch _, both := j.Env[name]; {
		case !envPattern.MatchString(name):
			c.add("params", "env_name", name, "names must be letters, digits and '_', and not begin with a digit")
		case !mayBeParam(name):
			c.add(location, "env_reserved", name,
				"cannot be a parameter: the variable decides what a run executes, or is set by the worker")
		case both:
			c.add(location, "exclusive", name, "stands in env as well: give it in one place").With("beside", "env")
		}
		p := j.Params[name]
		c.line(location+".description", p.Description, MaxTitle)
		if len(p.Pattern) > MaxParamPattern {
			c.add(location+".pattern", "too_long", nil, "must be at most %d bytes", MaxParamPattern).
				With("bytes", MaxParamPattern)
			continue
		}
		pattern, err := p.pattern()
		if err != nil {
			c.add(location+".pattern", "pattern", p.Pattern, "is not a regular expression (RE2)")
			continue
		}
		c.param(location+".default", p.Default, pattern)
	}
}

// ParamFaults returns the faults of the values that a trigger sets for parameters: a run with them must not be started.
// Locations are params.NAME.
func (j *Job) ParamFaults(given map[string]string) []Fault {
	c := &checker{}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(given)) {
		location, value := "params."+Excerpt(name), given[name]
		total += len(name) + len(value)
		p, known := j.Params[name]
		if !known || !envPattern.MatchString(name) || !mayBeParam(name) {
			c.add(location, "unknown", name, "is not a parameter of the job")
			continue
		}
		pattern, err := p.pattern()
		if err != nil {
			c.add(location, "pattern", nil, "cannot be judged: its pattern is not a regular expression")
			continue
		}
		c.param(location, value, pattern)
	}
	if total > MaxParamsGiven {
		c.add("params", "too_large", nil, "must be at most %d KiB together", MaxParamsGiven>>10).
			With("size", fmt.Sprintf("%d KiB", MaxParamsGiven>>10))
	}
	return c.faults
}

// ReasonParamsDropped is the code of ParamsDropped.
const ReasonParamsDropped = "params_dropped"

// ParamsDropped warns of parameters of an earlier run that are no longer declared. There are few: see MaxParams.
func ParamsDropped(names []string) Reason {
	list := strings.Join(names, ", ")
	text := " is no longer a parameter of the job: its earlier value is not used"
	if len(names) > 1 {
		text = " are no longer parameters of the job: their earlier values are not used"
	}
	return Reason{Code: ReasonParamsDropped, Text: list + text,
		Data: map[string]string{"params": list, "count": strconv.Itoa(len(names))}}
}

// WithoutRemoved returns the values of parameters without those that are inherited from an earlier run and that the job
// no longer declares, and the names of these, in order.
func (j *Job) WithoutRemoved(given map[string]string, inherited []string) (values map[string]string, dropped []string) {
	for _, name := range slices.Sorted(slices.Values(inherited)) {
		if _, known := j.Params[name]; !known {
			dropped = append(dropped, name)
		}
	}
	if len(dropped) == 0 {
		return given, nil
	}
	values = maps.Clone(given)
	for _, name := range dropped {
		delete(values, name)
	}
	return values, dropped
}

// ParamValues returns the values of the job's parameters for one run: the given ones, and the defaults of the others.
func (j *Job) ParamValues(given map[string]string) map[string]string {
	if len(j.Params) == 0 {
		return nil
	}
	values := make(map[string]string, len(j.Params))
	for name, p := range j.Params {
		values[name] = p.Default
		if value, ok := given[name]; ok {
			values[name] = value
		}
	}
	return values
}

// pattern returns the compiled pattern of its values; nil if any text is valid.
func (p *Param) pattern() (*regexp.Regexp, error) {
	if p.Pattern == "" {
		return nil, nil
	}
	re, err := regexp.Compile(p.Pattern)
	if err != nil {
		return nil, err
	}
	re.Longest() // so that a match of the whole value is found if there is one
	return re, nil
}

// param checks one value.
func (c *checker) param(location, value string, pattern *regexp.Regexp) {
	before := len(c.faults)
	c.text(location, value)
	if len(value) > MaxParam {
		c.add(location, "too_long", nil, "must be at most %d bytes", MaxParam).With("bytes", MaxParam)
	}
	if len(c.faults) > before || pattern == nil {
		return
	}
	if at := pattern.FindStringIndex(value); at == nil || at[0] != 0 || at[1] != len(value) {
		c.add(location, "pattern", value, "must match %s", Excerpt(pattern.String())).
			With("pattern", Excerpt(pattern.String()))
	}
}

// ValidVariable reports whether a text may name an environment variable of a job.
func ValidVariable(name string) bool { return envPattern.MatchString(name) }
