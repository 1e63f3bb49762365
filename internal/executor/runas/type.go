package runas

import (
	"slices"

	"carillon/internal/common"
)

// Type returns the reason why a job must not have its type, nil if it may. A group whose commands are restricted may
// use plug-ins and requests only if its entry lists them.
func (f *File) Type(job *common.Job) *common.Reason {
	if f == nil {
		return nil
	}
	entry, name := f.now().of(job.Group), job.TypeName()
	switch {
	case entry.Disabled:
		return refusal("group_disabled", map[string]string{"group": job.Group},
			"this worker runs no jobs of the group %q", job.Group)
	case slices.Contains(entry.Types, name):
	case len(entry.Types) == 0 && (name == common.TypeShell || len(entry.Commands) == 0):
	default:
		return refusal(common.ReasonTypeNotAllowed, map[string]string{"type": name, "group": job.Group},
			"this worker does not allow the type %s for jobs of the group %q", common.Excerpt(name), job.Group)
	}
	return nil
}
