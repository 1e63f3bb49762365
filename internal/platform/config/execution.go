package config

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/pflag"

	"carillon/internal/common"
)

// DefaultTypesDir is the default folder of the plug-ins of a worker.
const DefaultTypesDir = "/usr/lib/carillon/types"

// Execution selects the users that commands run as on a worker, and their maximum run time.
type Execution struct {
	RunAs      string         // file of rules; empty: none
	MaxRunTime time.Duration  // 0: only the job's limit
	HTTPAllow  []netip.Prefix // non-public networks that requests of jobs may be sent to
	TypesDir   string         // folder of plug-ins; empty: none
	TypesAllow []string       // types that are offered; empty: all in the folder
}

func (e *Execution) declare(s *settings, plugIns string) {
	s.text(&e.RunAs, "runAs", "file", "",
		"file that defines which users and commands jobs may use on this worker; must be owned by root; loaded again "+
			"when it changes (default: all run as the worker's own user)", absolute)
	s.duration(&e.MaxRunTime, "maxRunTime", 0, 0, 366*24*time.Hour,
		"maximum run time of a command on this worker, whatever its job allows; 0 for unlimited")
	listOf(s, &e.HTTPAllow, "httpAllow", "list", "",
		"private addresses or networks that jobs of the type http may call from this worker, such as 10.0.0.0/8",
		reachable)
	s.text(&e.TypesDir, "typesDir", "folder", plugIns,
		"folder of plug-ins, programs named carillon-type-NAME; they, and all folders above, must be owned by root, "+
			"and writable by root only", absolute)
	listOf(s, &e.TypesAllow, "typesAllow", "list", "",
		"types of plug-ins that this worker offers, such as sql,container (default: all in typesDir)", typeName)
}

func typeName(text string) (string, error) {
	if !common.ValidType(text) {
		return "", fmt.Errorf("%q is not the name of a type", common.Shorten(text))
	}
	return text, nil
}

// LoadTypes reads the settings of "carillon-worker types".
func LoadTypes(fs *pflag.FlagSet, environ []string) (Execution, error) {
	var w Worker
	s := w.settings()
	err := s.refused(s.load(fs, environmentOf(environ)))
	return w.Execution, err
}
