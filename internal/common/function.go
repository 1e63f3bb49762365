package common

import "strings"

// TypeFunc is the type of jobs that a program runs as one of its own functions.
const TypeFunc = "func"

// Labels of the jobs that a program defines: its name, and the version of the program. Of two builds, the one whose
// text sorts last is the later one.
const (
	LabelApp   = "app"
	LabelBuild = "app-build"
)

// MaxFunctions is the maximum number of functions of a program.
const MaxFunctions = 500

// funcNeed begins the feature of a program that has a function.
const funcNeed = "func:"

// Function identifies a function of a program.
type Function struct{ App, Name string }

// Feature returns the feature of workers that have the function.
func (f Function) Feature() string { return funcNeed + f.App + "/" + f.Name }

// With returns the settings of a job that runs the function.
func (f Function) With() With { return With{"app": f.App, "func": f.Name} }

// FunctionOf returns the function that the settings of a job of type func name; empty names if they are invalid.
func FunctionOf(w With) (f Function) {
	f.App, _ = w["app"].(string)
	f.Name, _ = w["func"].(string)
	return f
}

// FunctionOfFeature returns the function of which a worker has the feature.
func FunctionOfFeature(feature string) (f Function, ok bool) {
	rest, ok := strings.CutPrefix(feature, funcNeed)
	if !ok {
		return f, false
	}
	f.App, f.Name, ok = strings.Cut(rest, "/")
	return f, ok
}

// OwnFeature reports whether a feature is one for which a worker that accepts no other jobs accepts a job.
func OwnFeature(feature string) bool {
	return strings.HasPrefix(feature, funcNeed) || feature == FeatureFlows
}

// functionFaults checks the settings of a job of type func, and that it has no field that concerns a process.
func (j *Job) functionFaults(c *checker) {
	for _, key := range [...]string{"app", "func"} {
		switch name, isText := j.With[key].(string); {
		case !isText:
			c.add("with."+key, "required", nil, "is required with the type func")
		default:
			c.name("with."+key, name)
		}
	}
	for key := range j.With {
		if key != "app" && key != "func" {
			c.add("with."+Excerpt(key), "exclusive", nil, "has no meaning with the type func").With("beside", "type")
		}
	}
	for variable := range j.Env {
		if j.NamesSecret(variable) {
			c.add("env."+Excerpt(variable), "exclusive", nil,
				"cannot be a secret with the type func: a function gets no secrets").With("beside", "type")
		}
	}
}
