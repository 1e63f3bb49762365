// Package inside holds what all runs have in common, whether they are commands or functions of this process: the
// causes with which they are stopped, their outcomes, and the capture of their output.
package inside
