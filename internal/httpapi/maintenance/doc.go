// Package maintenance serves maintenance windows: times in which jobs wait, or skip their fires.
package maintenance
