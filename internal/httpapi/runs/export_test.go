package runs

// For the tests of this folder.
const (
	MaxAhead      = maxAhead
	MaxAheadOfJob = maxAheadOfJob
	MaxEvent      = maxEvent
	MaxPiece      = maxPiece
	SearchTime    = searchTime
	SearchTurns   = searchTurns
	SearchWait    = searchWait
	StreamAsk     = streamAsk
)
