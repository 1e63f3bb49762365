package request

import _ "embed"

// Document describes the type http as plug-ins describe theirs.
//
//go:embed document.json
var Document []byte
