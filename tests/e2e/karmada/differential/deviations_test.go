package differential

import (
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
)

// Where Evenkeel answers otherwise than Karmada's code, and means to. Nothing of them is left uncompared: it
// is Karmada's answer to another question that Evenkeel is to give, or 0 in place of what is negative.
const (
	// A constraint without minGroups counts as 1, as its webhook writes it. Without that webhook Karmada's
	// code divides by 0, and what comes of it depends on the machine.
	deviatesLeastZero = "deviates: minGroups 0 is 1"
	// Karmada's code sums replicas in 32 bits. A workload of 0 replicas that is to be divided anew has
	// 2147483647 available in each cluster, and fails.
	deviatesWrap = "deviates: sums that wrap"
	// Of components that all have 0 replicas, Karmada's estimator places 2147483647 sets one by one.
	deviatesNoReplicas = "deviates: components without replicas"
	// Of a quota of which more is used than it has, Karmada's estimator divides what is left, which is
	// negative, and answers that so many fit. To its client -1 says that the estimator does not know.
	deviatesExceeded = "deviates: quotas that are exceeded"
)

// leastZero leaves a minGroups of 1 out, sometimes.
func (d dice) leastZero(placement *policyv1alpha1.Placement) bool {
	left := false
	for i := range placement.SpreadConstraints {
		if placement.SpreadConstraints[i].MinGroups == 1 && d.chance(5) {
			placement.SpreadConstraints[i].MinGroups, left = 0, true
		}
	}
	return left
}
