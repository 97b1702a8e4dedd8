// Package differential asks Evenkeel (`simulate --lines`) and Karmada's own code the same random questions:
// scheduling step by step and whole, both estimators, and the bindings made of policies. Where Evenkeel is to
// answer otherwise is listed in deviations_test.go.
package differential
