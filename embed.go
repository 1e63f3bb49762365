package carillon

import (
	"embed"
	"io/fs"
)

//go:embed README.md CHANGELOG.md docs/*.md docs/adr/*.md
var documents embed.FS

// Documents returns the pages of the documentation, by their paths in the repository.
func Documents() fs.FS { return documents }
