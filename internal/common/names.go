package common

import (
	"crypto/rand"
	"encoding/base32"
	"regexp"
	"strings"
)

// MaxName is the maximum length of a name of a job or a group, in bytes.
const MaxName = 128

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$`)

// NamePattern is the pattern of names of jobs, groups and workers, for schemas. A name must not contain ".." either.
const NamePattern = `^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$`

// SeriesPattern is the pattern of names of jobs, of inline steps, FLOW:STEP, and of the backfills of a job,
// JOB@backfill, for schemas.
const SeriesPattern = `^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?(:[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?|@backfill)?$`

// NameRule is the message of a fault in such a name.
const NameRule = "must be 1 to 128 characters of a–z, 0–9, '.', '_' and '-', begin and end with a letter or digit, " +
	"and not contain '..'"

// FirePattern is the pattern of ids of fires and of runs.
const FirePattern = `^[a-z0-9]{1,32}\.(d-?[a-z0-9]{1,40}\.)?[a-z0-9]{1,40}(\.[0-9]{1,9})?$`

// AllGroups stands for all groups, and for jobs without a group, where a setting lists groups.
const AllGroups = "*"

// ValidName reports whether a text may name a job, a group or a worker. Such a name is safe as part of an etcd key, a
// URL path and a file name.
func ValidName(s string) bool {
	return len(s) <= MaxName && namePattern.MatchString(s) && !strings.Contains(s, "..")
}

// ValidSeries reports whether a text may name a job, an inline step, or the backfills of a job.
func ValidSeries(s string) bool {
	job, step, isStep := strings.Cut(BackfilledJob(s), ":")
	if isStep && BackfilledJob(s) != s {
		return false
	}
	return ValidName(job) && (!isStep || ValidStep(step))
}

// NewID returns a random identifier of 80 bits: 16 characters of a–z and 2–7.
func NewID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}
