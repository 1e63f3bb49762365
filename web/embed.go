// Package web holds the built console, so that a binary serves it without any file beside it.
//
// It promises that Dist is the output of the web build: index.html and a few small files at the root, which a server
// must have browsers revalidate (ETag); everything else under assets, where each name has the hash of the file's
// content, so that browsers may keep it for ever. The package has no state and starts nothing.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var files embed.FS

// Dist returns the console's files, rooted at the folder that holds index.html.
func Dist() fs.FS {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		// fs.Sub fails only for an invalid path, and this one is a constant.
		panic(err)
	}
	return dist
}
