package config

import "carillon/internal/common"

// unknown returns the error for an undeclared name, with a suggestion if there is one.
func unknown(location, what, name string, known []string) common.Fault {
	f := common.NewFault(location, "unknown", nil, "unknown %s %q", what, common.Shorten(name))
	if near := common.Nearest(name, known); near != "" {
		f.Hint = "did you mean " + near + "?"
		f.Message += "; " + f.Hint
	}
	return f
}
