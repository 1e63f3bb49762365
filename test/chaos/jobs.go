package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"carillon/test/chaos/check"
)

// planned is a job, as it is sent and as the checker knows it.
type planned struct {
	Job  check.Job
	Body map[string]any
	Flow *check.Flow // nil for a job that no flow is concerned with
}

// setLike says what the jobs of a set are like.
type setLike int

const (
	likeShort   setLike = iota // taken for lost after 20 s
	likeLong                   // lost after 20 s as well, and some of them run for longer than that
	likePatient                // after 60 s
	likeSoak                   // that fire each 1 to 60 s and run for up to a minute
)

// jobSet makes n jobs that fire after from, until until: of all policies, of lines
// that are even and such that are not, some of which fail and are tried again. The
// lengths of runs are such that many meet the next fire.
func jobSet(seed uint64, n int, like setLike, helper, dir string, from, until time.Time) []planned {
	rng := rand.New(rand.NewPCG(seed, 1))
	var all []planned
	for i := range n {
		d := draft{
			rng:       rng,
			name:      fmt.Sprintf("job-%03d", i),
			from:      from,
			until:     until,
			lostAfter: 20 * time.Second,
			most:      7,
			shortest:  100 * time.Millisecond,
			longest:   8 * time.Second,
		}
		switch like {
		case likeLong:
			if i%3 == 0 {
				d.shortest, d.longest = 30*time.Second, 45*time.Second
			}
		case likePatient:
			d.lostAfter = time.Minute
		case likeSoak:
			d.most, d.longest = 60, time.Minute
			d.quiet = i%8 > 0 // a store without indexes cannot be asked for much
		}
		all = append(all, d.job(i, helper, dir))
	}
	return all
}

// draft is what a job is drawn from.
type draft struct {
	rng         *rand.Rand
	name        string
	from, until time.Time
	lostAfter   time.Duration
	most        int  // seconds from one fire to the next
	quiet       bool // prints nothing

	shortest, longest time.Duration // of what is drawn; a run takes half of it at least
}

func (d *draft) job(i int, helper, dir string) planned {
	// Policies go round, so that each is in a small set too.
	policies := []string{check.Skip, check.Queue, check.Replace, check.Allow}
	losses := []string{check.Rerun, check.Rerun, check.Rerun, check.Abandon, check.Detach}
	j := check.Job{
		Name:      d.name,
		Overlap:   policies[i%len(policies)],
		OnLost:    losses[i%len(losses)],
		LostAfter: d.lostAfter,
	}
	line, spell := d.timetable()
	j.Spells = []check.Spell{spell}
	// Lengths are drawn evenly over their magnitudes: many are short, a few are long.
	length := time.Duration(float64(d.shortest) * math.Exp(
		d.rng.Float64()*math.Log(float64(d.longest)/float64(d.shortest))))
	args := []string{helper, "-file", filepath.Join(dir, "ledger"), "-ms", ms(length / 2), ms(length)}
	if j.Exclusive() {
		args = append(args, "-locks", filepath.Join(dir, "locks"))
	}
	if size := 80 + d.rng.IntN(300); !d.quiet {
		args = append(args, "-every", ms(max(100*time.Millisecond, length/20)), fmt.Sprint(size))
	}
	deadlines := []string{"5s", "15s", "1m"}
	body := map[string]any{
		"name":          j.Name,
		"cronExpr":      line,
		"startAt":       d.start(),
		"endAt":         d.until,
		"overlap":       j.Overlap,
		"onLost":        j.OnLost,
		"lostAfter":     d.lostAfter.String(),
		"killGrace":     "2s",
		"startDeadline": deadlines[d.rng.IntN(len(deadlines))],
		"catchUp":       map[string]any{"policy": []string{"latest", "all", "none"}[d.rng.IntN(3)], "max": 5},
	}
	if i%4 == 1 {
		j.RetryMax = 1 + d.rng.IntN(2)
		body["retry"] = map[string]any{"max": j.RetryMax, "backoff": "1s", "maxBackoff": "2s"}
		args = append(args, "-fail", "30")
	}
	body["args"] = args
	return planned{Job: j, Body: body}
}

// start is the first time that the job may fire.
func (d *draft) start() time.Time { return d.from.Add(time.Second) }

// timetable draws how often the job fires: a cron line where that divides the minute.
func (d *draft) timetable() (line string, s check.Spell) {
	every := 1 + d.rng.IntN(d.most)
	s = check.Spell{Anchor: d.start(), Every: time.Duration(every) * time.Second, From: d.from, Until: d.until}
	if 60%every != 0 {
		return fmt.Sprintf("@every %ds", every), s
	}
	phase := d.rng.IntN(every)
	s.Anchor = d.from.Truncate(time.Minute).Add(time.Duration(phase) * time.Second)
	return fmt.Sprintf("%d/%d * * * * * *", phase, every), s
}

func ms(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
