// Command bench measures, in one run, what Karmada's own code takes and what Evenkeel's takes of a core for the same
// questions: a binding scheduled whole, and estimates by resource models, by nodes and pods, and of component sets.
// It prints medians and their ratios, as tables of Markdown.
//
//	bench -programs build/bench -evenkeel build/evenkeel
//
// Evenkeel's side are programs of tests/bench. Where one call of Karmada's takes minutes, it is asked about fewer nodes.
// Last come the estimators as their callers meet them: processes that list members from an API server and answer over
// gRPC (-only estimators; -only members is Evenkeel without Karmada beside it).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/pb"

	"evenkeel.io/tests/e2e/karmada/internal/peer"
)

func main() {
	klog.SetOutput(io.Discard) // what Karmada logs
	klog.LogToStderr(false)
	programs := flag.String("programs", "build/bench", "the folder of tests/bench's programs")
	binary := flag.String("evenkeel", "build/evenkeel", "Evenkeel")
	only := flag.String("only", "", "estimators: these as processes, and nothing else; members: Evenkeel's alone")
	patience := flag.Duration("patience", 20*time.Second, "how long Karmada's estimator may take for component sets of many nodes")
	as := flag.String("as", "", "what else this program is when it starts itself: members, karmada, callers")
	certs := flag.String("certs", "", "of the members: a folder of certificates")
	var served peer.Served
	flag.StringVar(&served.Cluster, "member", "", "of karmada, as the next two")
	flag.StringVar(&served.Kubeconfig, "access", "", "the kubeconfig of the member")
	flag.IntVar(&served.Port, "port", 0, "where it listens")
	flag.Parse()
	var err error
	switch *as {
	case "members":
		err = serveMembers(*certs)
	case "karmada":
		err = served.Serve(context.Background())
	case "callers":
		err = serveCalls()
	default:
		err = run(*programs, *binary, *only, *patience)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(programs, binary string, only string, patience time.Duration) error {
	if only != "" {
		return compareEstimators(binary, programs, only == "members", patience)
	}
	if err := schedules(programs); err != nil {
		return err
	}
	if err := estimates(programs); err != nil {
		return err
	}
	if err := compareEstimators(binary, programs, false, patience); err != nil {
		return err
	}
	fmt.Printf("\nMedians, on %d processors; Karmada's are of the clock, Evenkeel's of the thread's CPU.\n", runtime.NumCPU())
	return nil
}

// median of calls, which is at least one, and no more than take a few seconds.
func median(call func() error) (time.Duration, error) {
	var times []time.Duration
	for began := time.Now(); len(times) == 0 || (len(times) < 21 && time.Since(began) < 3*time.Second); {
		start := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// ask runs a program that prints one JSON object.
func ask(into any, program string, arguments ...string) error {
	output, err := exec.Command(program, arguments...).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return json.Unmarshal(output, into)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ---- scheduling ----

// newCluster is one of many, as Karmada reports them: 41 groups of APIs, no resource models.
func newCluster(i int) *clusterv1alpha1.Cluster {
	c := &clusterv1alpha1.Cluster{TypeMeta: metav1.TypeMeta{APIVersion: clusterv1alpha1.GroupVersion.String(), Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("member-%05d", i), Labels: map[string]string{"stage": "prod", "rack": fmt.Sprint(i % 40)}}}
	c.Spec.SyncMode, c.Spec.Provider, c.Spec.Region = clusterv1alpha1.Push, fmt.Sprintf("p%d", i%3), fmt.Sprintf("r%02d", i%20)
	c.Spec.Zones = []string{fmt.Sprintf("z%02d", i%60)}
	for g := range 41 {
		enabled := clusterv1alpha1.APIEnablement{GroupVersion: fmt.Sprintf("group%d.example.com/v1", g)}
		if g == 0 {
			enabled.GroupVersion = "apps/v1"
		}
		for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"} {
			enabled.Resources = append(enabled.Resources, clusterv1alpha1.APIResource{Name: kind, Kind: kind})
		}
		c.Status.APIEnablements = append(c.Status.APIEnablements, enabled)
	}
	c.Status.ResourceSummary = &clusterv1alpha1.ResourceSummary{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(int64(20+i*37%100), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("512Gi"),
		corev1.ResourcePods: resource.MustParse("2k")}}
	return c
}

// newBinding spreads 500 replicas over 5 to 10 regions and 10 to 40 clusters, by what is free.
func newBinding() *workv1alpha2.ResourceBinding {
	b := &workv1alpha2.ResourceBinding{TypeMeta: metav1.TypeMeta{APIVersion: workv1alpha2.GroupVersion.String(), Kind: "ResourceBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: "web-deployment", Namespace: "shop"}}
	b.Spec.Resource = workv1alpha2.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web", UID: "u"}
	b.Spec.Replicas = 500
	b.Spec.ReplicaRequirements = &workv1alpha2.ReplicaRequirements{ResourceRequest: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}}
	b.Spec.Placement = &policyv1alpha1.Placement{
		ClusterAffinity: &policyv1alpha1.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "prod"}}},
		SpreadConstraints: []policyv1alpha1.SpreadConstraint{{SpreadByField: policyv1alpha1.SpreadByFieldRegion, MinGroups: 5, MaxGroups: 10},
			{SpreadByField: policyv1alpha1.SpreadByFieldCluster, MinGroups: 10, MaxGroups: 40}},
		ReplicaScheduling: &policyv1alpha1.ReplicaSchedulingStrategy{ReplicaSchedulingType: policyv1alpha1.ReplicaSchedulingTypeDivided,
			ReplicaDivisionPreference: policyv1alpha1.ReplicaDivisionPreferenceWeighted,
			WeightPreference:          &policyv1alpha1.ClusterPreferences{DynamicWeight: policyv1alpha1.DynamicWeightByAvailableReplicas}}}
	return b
}

func schedules(programs string) error {
	fmt.Println("| clusters | given replicas | Karmada's Schedule() p50 | Evenkeel, CPU p50 | Karmada / Evenkeel |")
	fmt.Println("|---|---|---|---|---|")
	for _, count := range []int{100, 1000, 5000} {
		if err := schedule(programs, count); err != nil {
			return fmt.Errorf("%d clusters: %w", count, err)
		}
	}
	return nil
}

func schedule(programs string, count int) error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clusters, list := make([]*clusterv1alpha1.Cluster, count), make([]any, count)
	for i := range clusters {
		clusters[i] = newCluster(i)
		list[i] = clusters[i]
	}
	binding := newBinding()
	files := map[string]any{"state.json": map[string]any{"apiVersion": "v1", "kind": "List", "items": list}, "binding.json": binding}
	for name, content := range files {
		text, err := json.Marshal(content)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	scheduler, err := peer.NewScheduler()
	if err != nil {
		return err
	}
	if err := scheduler.Know(clusters); err != nil {
		return err
	}
	var theirs peer.Decision
	took, err := median(func() error {
		theirs = scheduler.Decide(&binding.Spec, &binding.Status, false)
		return nil
	})
	if err != nil {
		return err
	}
	var ours struct {
		Given int     `json:"given"`
		Error string  `json:"error"`
		P50   float64 `json:"p50_us"`
	}
	if err := ask(&ours, filepath.Join(programs, "schedule"), filepath.Join(dir, "state.json"), filepath.Join(dir, "binding.json")); err != nil {
		return err
	}
	if ours.Given != len(theirs.Clusters) || ours.Error != theirs.Error {
		return fmt.Errorf("Karmada gives %d clusters some (%s), Evenkeel %d (%s)", len(theirs.Clusters), theirs.Error, ours.Given, ours.Error)
	}
	fmt.Printf("| %d | %d | %.2f ms | %.3f ms | %.0f x |\n", count, ours.Given, milliseconds(took), ours.P50/1e3, milliseconds(took)*1e3/ours.P50)
	return nil
}

// ---- estimates ----

type answers struct {
	Models, Nodes, Sets       int64
	ModelsUs, NodesUs, SetsUs float64
}

func (a *answers) UnmarshalJSON(text []byte) error {
	var all map[string]float64
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*a = answers{int64(all["models"]), int64(all["nodes"]), int64(all["sets"]), all["models_us"], all["nodes_us"], all["sets_us"]}
	return nil
}

// peers asks Karmada's estimators about what tests/bench/estimate.c makes.
type peers struct {
	cluster *clusterv1alpha1.Cluster
	member  *peer.Member
}

func newPeers(nodes, pods int) (*peers, error) {
	p := &peers{cluster: &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "m"}}}
	for g := range 9 {
		cpu, memory := int64(0), int64(0)
		if g > 0 {
			cpu, memory = 1<<(g-1), 4<<(g-1)
		}
		p.cluster.Spec.ResourceModels = append(p.cluster.Spec.ResourceModels, clusterv1alpha1.ResourceModel{Grade: uint(g),
			Ranges: []clusterv1alpha1.ResourceModelRange{
				{Name: corev1.ResourceCPU, Min: *resource.NewQuantity(cpu, resource.DecimalSI)},
				{Name: corev1.ResourceMemory, Min: *resource.NewQuantity(memory<<30, resource.BinarySI)}}})
	}
	p.cluster.Status.ResourceSummary = &clusterv1alpha1.ResourceSummary{
		Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1M"), corev1.ResourceMemory: resource.MustParse("1Pi"),
			corev1.ResourcePods: resource.MustParse("10M")},
		AllocatableModelings: []clusterv1alpha1.AllocatableModeling{{Grade: 5, Count: nodes}}}
	var n []*corev1.Node
	var q []*corev1.Pod
	for i := range nodes {
		n = append(n, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("32"),
				corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110")}}})
	}
	for i := range pods {
		name := fmt.Sprintf("p%d", i)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "d", UID: types.UID(name)}}
		pod.Spec.NodeName = fmt.Sprintf("n%d", i%nodes)
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}}}}
		q = append(q, pod)
	}
	var err error
	p.member, err = peer.NewMember("m", n, q)
	return p, err
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func (p *peers) models() (int64, error) {
	replicas, _, err := peer.General(p.cluster, &workv1alpha2.ReplicaRequirements{ResourceRequest: list("1", "2Gi")}, nil)
	return int64(replicas), err
}

func (p *peers) nodes() (int64, error) {
	request := &pb.MaxAvailableReplicasRequest{Cluster: "m", ReplicaRequirements: &pb.ReplicaRequirements{}}
	request.ReplicaRequirements.SetResourceRequest(list("1", "2Gi"))
	response, err := p.member.Replicas(request)
	if err != nil {
		return 0, err
	}
	return int64(response.MaxReplicas), nil
}

func (p *peers) sets() (int64, error) {
	component := func(name string, replicas int32, request corev1.ResourceList) *pb.Component {
		c := &pb.Component{Name: name, Replicas: replicas, ReplicaRequirements: &pb.ComponentReplicaRequirements{}}
		c.ReplicaRequirements.SetResourceRequest(request)
		return c
	}
	response, err := p.member.Sets(&pb.MaxAvailableComponentSetsRequest{Cluster: "m", Namespace: "d",
		Components: []*pb.Component{component("jm", 1, list("1", "2Gi")), component("tm", 3, list("3", "10Gi"))}})
	if err != nil {
		return 0, err
	}
	return int64(response.MaxSets), nil
}

func estimates(programs string) error {
	fmt.Println("\n| what | nodes | answer | Karmada p50 | Evenkeel, CPU p50 | Karmada / Evenkeel | Evenkeel on 5,000 nodes |")
	fmt.Println("|---|---|---|---|---|---|---|")
	var large answers
	if err := ask(&large, filepath.Join(programs, "estimate"), "5000", "100000"); err != nil {
		return err
	}
	for _, row := range []struct {
		what        string
		nodes, pods int
		theirs      func(*peers) (int64, error)
		ours        func(answers) (int64, float64)
	}{
		{"resource models", 500, 0, (*peers).models, func(a answers) (int64, float64) { return a.Models, a.ModelsUs }},
		{"nodes and pods", 5000, 100000, (*peers).nodes, func(a answers) (int64, float64) { return a.Nodes, a.NodesUs }},
		{"sets of JM + 3 TM", 500, 10000, (*peers).sets, func(a answers) (int64, float64) { return a.Sets, a.SetsUs }},
	} {
		var small answers
		if err := ask(&small, filepath.Join(programs, "estimate"), fmt.Sprint(row.nodes), fmt.Sprint(row.pods)); err != nil {
			return err
		}
		p, err := newPeers(row.nodes, row.pods)
		if err != nil {
			return err
		}
		var theirs int64
		took, err := median(func() error {
			var err error
			theirs, err = row.theirs(p)
			return err
		})
		p.member.Close()
		if err != nil {
			return err
		}
		ours, us := row.ours(small)
		if ours != theirs {
			return fmt.Errorf("%s: Karmada answers %d, Evenkeel %d", row.what, theirs, ours)
		}
		_, largeUs := row.ours(large)
		fmt.Printf("| %s | %d | %d | %.2f ms | %.4f ms | %.0f x | %.4f ms |\n", row.what, row.nodes, ours, milliseconds(took), us/1e3,
			milliseconds(took)*1e3/us, largeUs/1e3)
	}
	return nil
}
