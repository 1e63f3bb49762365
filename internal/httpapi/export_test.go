package httpapi

// For the tests of this folder.
const (
	PolicyConsole = policyConsole
)

type (
	Example = example
)

var (
	IsAPI            = isAPI
	BoundConnections = newConnections
	Recorded         = recorded
)
