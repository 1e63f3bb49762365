package check

import "time"

// Entry is an outcome in the ledger of the system under test: of one attempt of a fire, or, if To is set, of
// all fires after From and up to To.
type Entry struct {
	Fire
	Attempt        int
	Status, Reason string
	From, To       time.Time
	Started, Ended time.Time
}

// Accounts is the result for the entries of a plan.
type Accounts struct {
	Planned int
	None    int // fires without an outcome
	Open    int // pending or active fires
	// outcomes of a fire and attempt beyond the first, or of a fire that ran and has a gap entry
	Twice    int
	ByStatus map[string]int // fires by the outcome of their last attempt
}

// Account compares entries with a plan.
func (p Plan) Account(entries []Entry) Accounts {
	type once struct {
		Fire
		attempt int
	}
	jobs := map[string]bool{}
	for _, j := range p.Jobs {
		jobs[j] = true
	}
	v := Accounts{Planned: p.Count(), ByStatus: map[string]int{}}
	seen, last, passed := map[once]bool{}, map[Fire]Entry{}, map[Fire]bool{}
	for _, e := range entries {
		switch {
		case !jobs[e.Job]:
		case !e.To.IsZero():
			// A gap entry covers fires that did not run, and accounts for each of them.
			for at := e.From.Truncate(p.step()).Add(p.step()); !at.After(e.To); at = at.Add(p.step()) {
				f := Fire{e.Job, at.UTC()}
				if !p.contains(at) {
					continue
				}
				if _, ran := last[f]; ran || passed[f] {
					v.Twice++
				}
				passed[f] = true
				last[f] = e
			}
		case p.contains(e.Planned):
			key, before := once{e.Fire, e.Attempt}, last[e.Fire]
			known := before.Job != ""
			// Attempt 0 is for a fire that did not run, so it is the only one.
			if seen[key] || passed[e.Fire] || known && (before.Attempt == 0) != (e.Attempt == 0) {
				v.Twice++
			}
			seen[key] = true
			if !known || before.Attempt < e.Attempt {
				last[e.Fire] = e
			}
		}
	}
	for _, e := range last {
		v.ByStatus[e.Status]++
		if e.Status == "waiting" || e.Status == "running" {
			v.Open++
		}
	}
	v.None = v.Planned - len(last)
	return v
}
