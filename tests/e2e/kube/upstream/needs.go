//go:build never

// Package upstream is in its folders: Kubernetes' own integration tests with Evenkeel in them. This
// file makes go.mod list the modules that they need: they are compiled as part of this module.
package upstream

import (
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/kubernetes/test/integration/framework"
	_ "k8s.io/kubernetes/test/integration/scheduler_perf"
	_ "k8s.io/kubernetes/test/integration/util"
)
