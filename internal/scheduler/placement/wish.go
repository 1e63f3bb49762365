package placement

import "carillon/internal/common"

// WishOf returns the requirements of a job, or why its selector cannot be parsed.
func WishOf(job *common.StoredJob) (Wish, error) {
	terms := job.Terms()
	wish := Wish{Job: job.Name, Slots: terms.Slots, Strategy: terms.Strategy, Needs: job.MustHave()}
	if job.Placement != nil {
		wish.Workers = job.Placement.Workers
	}
	selector, err := ParseSelector(terms.Selector)
	wish.Selector = selector
	return wish, err
}
