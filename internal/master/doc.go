// Package master assembles a master: the API and the console, and the duties of the elected master. Decisions are made
// in the packages that it wires.
package master
