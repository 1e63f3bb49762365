package httpapi

// For the tests of this folder.
const (
	PolicyConsole = policyConsole
)

type (
	Example = example
)

var (
	Document         = document
	IsAPI            = isAPI
	BoundConnections = newConnections
	Recorded         = recorded
)
