// Package defaults serves the settings that jobs inherit from their groups, and from those of all jobs.
package defaults
