// Package daemon wires the parts of master and worker, each of which runs alone in
// its own binary and both of which run in the standalone. It holds no logic of its
// own: what there is to decide is decided in the packages that it puts together.
package daemon
