// Package runs serves runs: their list, output, live output, search and ledger, and the requests to start and kill
// them.
//
// A response of live output ends soon after its caller has lost the permission to read. Texts of runs that the caller
// may not see are neither returned nor found.
package runs
