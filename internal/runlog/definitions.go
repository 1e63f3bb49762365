package runlog

import (
	"context"

	"carillon/internal/common"
)

// Definitions stores the bodies of flows by their digests, for earlier versions of a flow and the graphs of old flow
// runs. They are never changed or deleted: a body that is stored stays as it is.
type Definitions interface {
	// Define stores the parts of a body.
	Define(ctx context.Context, digest string, parts [][]byte) error
	// Definition returns the parts of a body. One that is not stored is an error with common.CodeNotFound.
	Definition(ctx context.Context, digest string) (parts [][]byte, err error)
	// Defined returns which of the digests have a stored body.
	Defined(ctx context.Context, digests []string) (map[string]bool, error)
}

// NoDefinition returns the error of a body that is not stored.
func NoDefinition(digest string) error {
	return common.Errorf(common.CodeNotFound, "no definition %q in the run log", common.Shorten(digest))
}

// Definition implements Definitions.
func (a *Available) Definition(ctx context.Context, digest string) ([][]byte, error) {
	return ifThere(a, func() ([][]byte, error) { return a.Definitions.Definition(ctx, digest) })
}
