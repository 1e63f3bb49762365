// Package drawing describes the graph of a flow as it is drawn: its steps with their layers, and its dependencies with
// their effective conditions. The API returns it, and cronctl computes it from a file. It is pure.
package drawing
