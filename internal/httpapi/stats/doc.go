// Package stats serves the overview of the cluster, and statistics of runs by hour or day.
package stats
