package e2e

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// Two open nodes in the east, two cordoned ones in the west, a tainted one in the north, and a small one
// in no zone.
func (s *stage) pendingNodes() map[string]*v1.Node {
	s.Helper()
	nodes := map[string]*v1.Node{}
	for _, name := range []string{"east-1", "east-2", "west-1", "west-2"} {
		nodes[name] = s.node(name, map[string]string{zoneKey: name[:4]})
	}
	nodes["north"] = s.node("north", map[string]string{zoneKey: "north"},
		v1.Taint{Key: "dedicated", Value: "gpu", Effect: v1.TaintEffectNoSchedule})
	nodes["lone"] = s.node("lone", map[string]string{"lone": "yes"},
		v1.Taint{Key: "lone", Effect: v1.TaintEffectNoSchedule})
	for _, name := range []string{"west-1", "west-2"} {
		node := nodes[name]
		node.Spec.Unschedulable = true
		_, err := s.Client.CoreV1().Nodes().Update(s.ctx, node, metav1.UpdateOptions{})
		s.must(err)
	}
	return nodes
}

// running makes a pod of the app that is on this node.
func (s *stage) running(app string, node *v1.Node, change func(*v1.Pod)) {
	s.Helper()
	pod := s.newPod(app+"-on-"+node.Name, app, s.id)
	pod.Spec.NodeName = node.Name
	if change != nil {
		change(pod)
	}
	s.create(pod)
}

func port(pod *v1.Pod) {
	pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
}

func term(key, app string) []v1.PodAffinityTerm {
	return []v1.PodAffinityTerm{{TopologyKey: key,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
}

type pendingCase struct {
	name   string
	change func(*v1.Pod)
	line   string // what the first line says: a regular expression
}

func pendingCases(small string) []pendingCase {
	selects := func(key, value string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.NodeSelector[key] = value }
	}
	spreads := func(minDomains int32) func(*v1.Pod) {
		return func(p *v1.Pod) {
			c := constraint(zoneKey, 1, v1.DoNotSchedule, p.Labels["app"])
			if minDomains > 0 {
				c.MinDomains = &minDomains
			}
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{c}
		}
	}
	return []pendingCase{
		{"taint", selects(zoneKey, "north"), `all 1 nodes \(of 6\) that its nodeSelector and node affinity leave are refused: with a taint that the pod does not tolerate;.*taint dedicated=gpu:NoSchedule`},
		{"cordoned", selects(zoneKey, "west"), `all 2 nodes \(of 6\) that its nodeSelector and node affinity leave are refused: cordoned;`},
		{"selector", selects("disk", "ssd"), `all 6 nodes are refused: not matching the pod's nodeSelector.*disk=ssd`},
		{"affinity", func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: term(zoneKey, "nobody")}}
		}, `all 6 nodes are refused: without a pod beside it that the pod's podAffinity requires`},
		{"anti", func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: term(hostKey, "anti")}}
		}, `2 with a pod beside it that the pod's podAntiAffinity excludes`},
		{"skew", spreads(0), `the pod \(topology.kubernetes.io/zone, maxSkew 1\) allows only north, west; their 3 nodes: 2 cordoned, 1 with a taint`},
		{"mindomains", spreads(5), `wants minDomains 5, and only 3 domains have nodes that count. Lower minDomains`},
		{"cpu", func(p *v1.Pod) {
			p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("100")}
		}, `2 Insufficient cpu`},
		{"unbound", func(p *v1.Pod) { p.Spec.Volumes = mounts("unbound") },
			`pod has unbound immediate PersistentVolumeClaims.*its claims: unbound`},
		{"noclaim", func(p *v1.Pod) { p.Spec.Volumes = mounts("none") }, `persistentvolumeclaim "none" not found`},
		{"zonal", func(p *v1.Pod) { p.Spec.Volumes = mounts("zonal") }, `2 out of reach of the pod's PersistentVolume`},
		{"ports", port, `2 with the pod's hostPort in use`},
		{"web", nil, `rule web \(topology.kubernetes.io/zone, maxSkew 1\) allows only north, west; their 3 nodes: 2 cordoned`},
		{"gates", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/quota"}} },
			`held by its schedulingGates example.com/quota`},
		{"scheduler", func(p *v1.Pod) { p.Spec.SchedulerName = "nobodys" },
			`no scheduler has tried it.*schedulerName nobodys`},
		{"nominated", func(p *v1.Pod) {
			p.Spec.NodeSelector["lone"] = "yes"
			p.Spec.Tolerations = []v1.Toleration{{Key: "lone", Operator: v1.TolerationOpExists}}
			large(p, small)
		}, `nominated for node .*-lone, where it waits until the pods that are evicted`},
	}
}

// setPendingStage makes what the pods of the cases collide with.
func (s *stage) setPendingStage() (high string) {
	s.Helper()
	nodes := s.pendingNodes()
	low, high := s.priorityClass("low", 1), s.priorityClass("high", 2)
	for _, name := range []string{"east-1", "east-2"} {
		s.running("anti", nodes[name], nil)
		s.running("ports", nodes[name], port)
	}
	for _, app := range []string{"skew", "web"} {
		s.running(app, nodes["east-1"], nil)
	}
	for _, name := range []string{"east-1", "west-1", "north"} {
		s.running("mindomains", nodes[name], nil)
	}
	s.running("victim", nodes["lone"], func(p *v1.Pod) {
		long := int64(3600)
		p.Spec.TerminationGracePeriodSeconds = &long
		large(p, low)
	})
	s.claim("unbound")
	s.zonalVolume("zonal", "mars")
	return high
}

// waitTold returns when kube-scheduler has said of the pod what it will say.
func (s *stage) waitTold(c pendingCase) {
	s.Helper()
	if c.name == "scheduler" {
		return // nobody will
	}
	s.until("a verdict about "+c.name, func(ctx context.Context) (bool, error) {
		pod, err := s.Client.CoreV1().Pods(s.id).Get(ctx, c.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		told := false
		for _, condition := range pod.Status.Conditions {
			told = told || condition.Type == v1.PodScheduled && condition.Status == v1.ConditionFalse
		}
		return told && (c.name != "nominated" || pod.Status.NominatedNodeName != ""), nil
	})
}

// firstLine of evenkeel explain about a pod.
func (s *stage) firstLine(e *evenkeel.Evenkeel, kubeconfig, pod string) string {
	s.Helper()
	text, err := exec.CommandContext(s.ctx, binary, "explain", s.id+"/"+pod, "--server", e.OpsURL(),
		"--kubeconfig", kubeconfig).CombinedOutput()
	if err != nil {
		s.Errorf("explain %s: %v: %s", pod, err, text)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// TestPendingIsExplained: for each kind of Pending that kube-scheduler has, the first line of explain
// names the cause.
func TestPendingIsExplained(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	high := s.setPendingStage()
	e := s.evenkeel(func(o *evenkeel.Options) {
		rule := s.orderedRule(v1.ScheduleAnyway, v1.DoNotSchedule)
		terms := rule["rules"].([]any)[0].(map[string]any)
		terms["terms"] = []any{map[string]any{"topologyKey": zoneKey, "whenUnsatisfiable": v1.DoNotSchedule}}
		o.Settings["orderedSpread"] = rule
	})
	s.caughtUp(e)
	s.scheduler(s.id, nil, e.Extender())
	kubeconfig, err := s.Kubeconfig(cluster.Admin())
	s.must(err)
	for _, c := range pendingCases(high) {
		pod := s.newPod(c.name, c.name, s.id)
		if c.change != nil {
			c.change(pod)
		}
		s.create(pod)
		s.waitTold(c)
		line := s.firstLine(e, kubeconfig, c.name)
		t.Logf("e2e: %s", line)
		if !strings.HasPrefix(line, "pod "+s.id+"/"+c.name+": Pending: ") || !regexp.MustCompile(c.line).MatchString(line) {
			t.Errorf("%s: the first line is %q, want %q", c.name, line, c.line)
		}
	}
}
