package differential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"evenkeel.io/tests/e2e/kube/peer/intree"
)

// question is a case: a cluster, a pod, and how to ask.
type question struct {
	cluster intree.Objects
	pod     *corev1.Pod
	args    *config.PodTopologySpreadArgs
	// candidates are the nodes to filter and to score; without any, all are filtered and those
	// that pass are scored.
	candidates []string
	// countAll has Evenkeel count every pod for the selector {}, as the scheduler does in all
	// versions but 1.27 to 1.37, which the plugin here is one of.
	countAll bool
	// podsFirst has the state's pods before their nodes.
	podsFirst bool
	// added is NodeAffinity's argument; nil: none.
	added *corev1.NodeAffinity
}

type score struct{ Raw, Normalized int64 }

// answer is by node. Without any scores nobody had an opinion.
type answer struct {
	Verdicts map[string]string
	Scores   map[string]score
}

// differences says where a differs from b, a line each; empty when they agree.
func (a *answer) differences(b *answer) string {
	var lines []string
	for node, verdict := range a.Verdicts {
		if b.Verdicts[node] != verdict {
			lines = append(lines, fmt.Sprintf("%s: verdict %q, plugin %q", node, verdict, b.Verdicts[node]))
		}
	}
	for node, score := range a.Scores {
		if other, ok := b.Scores[node]; !ok || other != score {
			lines = append(lines, fmt.Sprintf("%s: score %v, plugin %v (scored: %v)", node, score, other, ok))
		}
	}
	if len(a.Verdicts) != len(b.Verdicts) || len(a.Scores) != len(b.Scores) {
		lines = append(lines, fmt.Sprintf("%d verdicts and %d scores, plugin %d and %d",
			len(a.Verdicts), len(a.Scores), len(b.Verdicts), len(b.Scores)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// ---- the plugin's answer ----

// unusedKey is a label that no pod has; asking that it is absent selects every pod.
const unusedKey = "evenkeel.io/on-no-pod"

// podForPlugin is the pod as the plugin must be asked for the answer that is expected.
func (q *question) podForPlugin() *corev1.Pod {
	if !q.countAll {
		return q.pod
	}
	pod := q.pod.DeepCopy()
	for i := range pod.Spec.TopologySpreadConstraints {
		if selector := pod.Spec.TopologySpreadConstraints[i].LabelSelector; selector != nil {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: unusedKey, Operator: metav1.LabelSelectorOpDoesNotExist})
		}
	}
	return pod
}

// askPlugin asks about the objects given, which are the question's own, perhaps read back.
func (q *question) askPlugin(objects *intree.Objects) (*answer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := intree.NewCluster(ctx, objects, q.args)
	if err != nil {
		return nil, err
	}
	names, pod := q.candidates, q.podForPlugin()
	if names == nil {
		names = cluster.AllNodes()
	}
	codes, err := cluster.Filter(ctx, pod, names)
	if err != nil {
		return nil, err
	}
	a := &answer{Verdicts: map[string]string{}, Scores: map[string]score{}}
	scored := q.candidates
	for i, name := range names {
		a.Verdicts[name] = strings.Replace(codes[i].String(), "Success", "Pass", 1)
		if q.candidates == nil && codes[i] == 0 {
			scored = append(scored, name)
		}
	}
	scores, err := cluster.Score(ctx, pod, scored)
	if err != nil {
		return nil, err
	}
	for i, name := range scored {
		if scores != nil {
			a.Scores[name] = score{scores.Raw[i], scores.Normalized[i]}
		}
	}
	return a, nil
}

// ---- files ----

// stateJSON is the cluster as kubectl prints it.
func (q *question) stateJSON() ([]byte, error) {
	list := struct {
		metav1.TypeMeta
		Items []any `json:"items"`
	}{metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, []any{}}
	for _, node := range q.cluster.Nodes {
		list.Items = append(list.Items, node)
	}
	for _, namespace := range q.cluster.Namespaces {
		list.Items = append(list.Items, namespace)
	}
	for _, owner := range q.cluster.Owners {
		list.Items = append(list.Items, owner)
	}
	for i, pod := range q.cluster.Pods {
		at := len(list.Items)
		if q.podsFirst {
			at = i
		}
		list.Items = slices.Insert(list.Items, at, any(pod))
	}
	return json.MarshalIndent(list, "", " ")
}

// configurationOf is the configuration file's content with the plugin's defaults.
func configurationOf(args *config.PodTopologySpreadArgs) map[string]any {
	spread := map[string]any{"defaulting": args.DefaultingType}
	if args.DefaultingType == config.ListDefaulting {
		spread["defaultConstraints"] = args.DefaultConstraints
	}
	return map[string]any{"apiVersion": "evenkeel.io/v1alpha1", "kind": "EvenkeelConfiguration", "spread": spread}
}

// prepare writes the files of the question and returns the call that asks it.
func (q *question) prepare(binary, folder string) (*simulation, error) {
	s := newSimulation(binary, folder)
	pod, err := json.MarshalIndent(q.pod, "", " ")
	if err != nil {
		return nil, err
	}
	rules, err := q.prepareCluster(s)
	if err != nil {
		return nil, err
	}
	s.arguments = append(s.arguments, rules...)
	if q.candidates != nil {
		s.arguments = append(s.arguments, "--candidates", strings.Join(q.candidates, ","))
	}
	return s, s.write("pod.json", pod)
}

// prepareCluster writes the state and the configuration, and returns the flags that say by which
// rules to judge. They are those of serve, too.
func (q *question) prepareCluster(s *simulation) (rules []string, err error) {
	state, err := q.stateJSON()
	if err != nil {
		return nil, err
	}
	if err := s.write("state.json", state); err != nil {
		return nil, err
	}
	if !q.countAll {
		rules = append(rules, "--empty-selector", "CountNone")
	}
	if q.args.DefaultingType == config.SystemDefaulting {
		return rules, nil
	}
	configuration, err := json.Marshal(configurationOf(q.args))
	if err != nil {
		return nil, err
	}
	return append(rules, "--config", s.path("evenkeel.json")), s.write("evenkeel.json", configuration)
}

// ask asks both about the same files. The text says how they differ.
func (q *question) ask(binary, folder string) (plugin *answer, text string, err error) {
	s, err := q.prepare(binary, folder)
	if err != nil {
		return nil, "", err
	}
	objects, err := intree.ReadFile(s.path("state.json"))
	if err != nil {
		return nil, "", err
	}
	plugin, err = q.askPlugin(objects)
	if err != nil {
		return nil, "", fmt.Errorf("plugin: %w", err)
	}
	ours, err := s.answer()
	if refused := (refusal{}); errors.As(err, &refused) {
		return plugin, refused.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	return plugin, ours.differences(plugin), nil
}

// keep writes the files of a question to a folder that stays, with both answers.
func (q *question) keep(binary, name string) (folder string, err error) {
	folder, err = os.MkdirTemp("", name+"-*")
	if err != nil {
		return "", err
	}
	plugin, text, err := q.ask(binary, folder)
	if err != nil {
		return folder, err
	}
	s, err := q.prepare(binary, folder)
	if err != nil {
		return folder, err
	}
	expected, err := json.MarshalIndent(plugin, "", " ")
	if err != nil {
		return folder, err
	}
	return folder, errors.Join(s.write("plugin.json", expected),
		s.write("difference.txt", []byte(text+"\n")),
		s.write("command.sh", []byte(s.command()+"\n")))
}
