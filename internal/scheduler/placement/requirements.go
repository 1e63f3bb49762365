package placement

import "carillon/internal/common"

// RequirementsOf returns the requirements of a job, or why its selector cannot be parsed.
func RequirementsOf(job *common.StoredJob) (Requirements, error) {
	terms := job.Terms()
	req := Requirements{Job: job.Name, Slots: terms.Slots, Busy: terms.Spread, Strategy: terms.Strategy,
		Needs: job.MustHave()}
	if job.Placement != nil {
		req.Workers = job.Placement.Workers
	}
	selector, err := ParseSelector(terms.Selector)
	req.Selector = selector
	return req, err
}
