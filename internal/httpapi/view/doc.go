// Package view has what several resources show: the types of the API document that describe those of package common,
// what a caller may see of jobs and runs, estimates of runs, and counts of runs by status.
package view
