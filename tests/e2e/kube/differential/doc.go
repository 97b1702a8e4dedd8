// Package differential asks Evenkeel and Kubernetes' own code the same random questions and fails
// on the first answers that differ.
//
//	go test ./differential -v                      20,000 cases of everything, and what they were like
//	go test ./differential -short                  500 of each
//	go test ./differential -run Spread -cases 1000000 -seed 42
//	go test ./differential -run Spread -seed 42 -number 17    one case once more
//
// Every case is a function of the seed, which is printed, and its number. A case of TestSpread that
// differs is made as small as it gets, and its files are kept with the command that shows
// Evenkeel's answer.
//
// EVENKEEL is the program (default build/evenkeel of this repository). Single functions, and the
// extender's handlers where thousands of requests are made, are asked through drivers (primitives,
// handlers), which CC (default cc) builds with LIBEVENKEEL (default build/libevenkeel.a).
//
// What is compared:
//   - verdicts, raw and normalised scores of PodTopologySpread: `evenkeel simulate` against the
//     plugin on a snapshot of the scheduler's cache (TestSpread);
//   - of every node the verdict, the first filter that refuses it and its reasons: `evenkeel
//     simulate` against a framework with the default profile's filter plugins, less those that
//     need volumes or devices; and of the nodes that pass the score of each score plugin (TestFilters);
//   - what VolumeBinding and VolumeZone make of a pod's claims, beside the other filters: verdicts and
//     reasons of every node (TestVolumes; of more than 3,000 cases a quarter, and at least 3,000);
//   - the same as TestSpread, and preemption, of one daemon that is asked about many pods (TestServed);
//   - the priorities that kube-scheduler gets, where domains have up to 300 pods: the best nodes are
//     exactly the plugin's best, and no two nodes are in another order (TestPriorities);
//   - which constraints are refused: `evenkeel simulate` against the API server's pod strategy
//     (TestValidation);
//   - what becomes of pods that the webhook patches: the API server's patch library, defaults and
//     validation, and node affinity before and after (TestAdmission). A quarter and more of them are
//     adapted from testdata/templates: pods in the shape of what well-known charts and operators
//     make, which are handed on as an API server does, with defaults, managedFields and what its own
//     plugins add. Each of these is also asked about as it stands (TestTemplates);
//   - workloads that those plugins, with VolumeZone, place with and without what the webhook adds: no
//     node is allowed that is refused without, and what is Pending is so for what the guide states,
//     each reason counted (TestInjection; a quarter of the cases);
//   - where kube-scheduler's plugins let patched pods go, in every small cluster, against a model of
//     the policy (TestPlacement);
//   - label selectors, selector strings, node affinity, tolerations and quantities: the functions
//     of src/kubernetes/model against apimachinery, component-helpers and api.
//
// Where Evenkeel differs on purpose:
//   - The plugin of this version counts no pods for the selector {}. Half of the cases ask Evenkeel
//     for that; in the other half the plugin is given a selector that selects every pod.
//   - Terminating pods are never named as victims of a preemption: the plugin subtracts them
//     without ever having counted them.
//   - Where no node says what is allocatable, NodeResourcesFit is not judged, and the answer says so:
//     hand-written states often leave it out. One node of TestFilters says it; the others may not.
//   - A term of node affinity that names several nodes in one requirement, which the API server
//     refuses, names none.
//   - All candidates are nodes of the cluster: the scheduler asks its plugins of no others.
//   - accepted() in validation_test.go lists what Evenkeel takes and the API server does not.
//   - A NUL in a selector string is refused; upstream stops reading there.
//   - Quantities are exact, at most 10^28 and saturated to int64, where upstream overflows.
//
// Tolerations with Lt and Gt tolerate nothing, as where TaintTolerationComparisonOperators is off,
// which is its default.
package differential
