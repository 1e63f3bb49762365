package view

import (
	"context"

	"carillon/internal/common"
)

// References reads which jobs refer to channels and secrets.
type References interface {
	// References returns the number of jobs that refer to each object of a kind, by the object's name.
	References(ctx context.Context, kind common.Referent) map[string]int
	// Referring returns the jobs that refer to an object, by name, at most so many.
	Referring(ctx context.Context, kind common.Referent, object string, most int) []string
}

// MaxUsedBy is the maximum number of listed jobs that refer to an object.
const MaxUsedBy = 100
