// Package live runs Karmada's own scheduler and descheduler, unmodified, with Evenkeel as the estimator of member
// clusters that are real API servers. Environment, all set by tests/e2e/karmada.sh -live:
//
//	EVENKEEL                   the binary
//	EVENKEEL_E2E_CONTROL_PLANE the program of tests/e2e/kube/cmd/controlplane
//	EVENKEEL_E2E_KARMADA_PEER  the program of cmd/karmada
//	EVENKEEL_E2E_KARMADA       the folder of Karmada's module
//	EVENKEEL_E2E_DIR           where logs and other files are kept; default: a folder that goes at the end
package live
