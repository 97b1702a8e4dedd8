// Package differential asks Evenkeel (`simulate --lines`) and Karmada's own code the same random questions:
// scheduling step by step and whole, and both estimators. Where Evenkeel is to answer otherwise is listed
// in deviations_test.go.
package differential
