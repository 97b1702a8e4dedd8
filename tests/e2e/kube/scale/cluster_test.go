package main

import (
	"os"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Pods have names of their own and nodes that exist, and the counts that skew starts from are those
// of the pods themselves, even over zones.
func TestPopulation(t *testing.T) {
	const nodes, live = 100, 5000
	zoneOfNode := map[string]int{}
	for i := range nodes {
		zoneOfNode[nodeName(i)] = i % zones
	}
	p := newPopulation(nodes, live)
	names, apps := sets.New[string](), map[string]*[zones]int{}
	unfinished := 0
	for range p.size() {
		pod := p.pod()
		names.Insert(pod.Namespace + "/" + pod.Name)
		zone, ok := zoneOfNode[pod.Spec.NodeName]
		if !ok {
			t.Fatalf("pod %s is on %q", pod.Name, pod.Spec.NodeName)
		}
		if pod.Status.Phase == v1.PodSucceeded {
			continue
		}
		unfinished++
		if pod.DeletionTimestamp == nil {
			app := pod.Labels["app"]
			if apps[app] == nil {
				apps[app] = &[zones]int{}
			}
			apps[app][zone]++
		}
	}
	if names.Len() != p.size() || unfinished != live {
		t.Errorf("%d names, %d pods not finished", names.Len(), unfinished)
	}
	for workload := range workloads {
		counts := p.perZone[workload]
		if found := apps[appName(workload)]; found != nil && *found != counts {
			t.Errorf("workload %d is counted %v, is %v", workload, counts, *found)
		}
		for _, count := range counts {
			if count > counts[workload%zones] || count < counts[workload%zones]-1 {
				t.Errorf("workload %d is uneven: %v", workload, counts)
			}
		}
	}
}

// What is stored is what kube-apiserver reads.
func TestStorageEncoding(t *testing.T) {
	for _, object := range []runtime.Object{newPopulation(zones, 100).pod(), newNode(0)} {
		bytes, err := runtime.Encode(newEncoder(), object)
		if err != nil {
			t.Fatal(err)
		}
		if string(bytes[:4]) != "k8s\x00" {
			t.Errorf("it begins with %q", bytes[:4])
		}
		back, kind, err := legacyscheme.Codecs.UniversalDeserializer().Decode(bytes, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		back.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // ours does not say either
		if !equality.Semantic.DeepEqual(object, back) {
			t.Errorf("what is read is not the %v that was stored", kind)
		}
	}
}

func TestNumbers(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3, 10, 9, 8, 7, 6}
	for percent, want := range map[float64]float64{0: 1, 10: 1, 50: 5, 90: 9, 99: 10, 100: 10} {
		if got := percentile(values, percent); got != want {
			t.Errorf("percentile %v is %v, want %v", percent, got, want)
		}
	}
	if even, odd := median(values), median(values[:3]); even != 5.5 || odd != 4 {
		t.Errorf("medians are %v and %v", even, odd)
	}
	if text := thousands(1234567) + thousands(123) + thousands(1000); text != "1,234,5671231,000" {
		t.Error(text)
	}
}

// Our own process uses time and memory.
func TestProc(t *testing.T) {
	for began := time.Now(); time.Since(began) < 50*time.Millisecond; {
		hash(uint64(began.Nanosecond()))
	}
	cpu, err := cpuSeconds(os.Getpid())
	if err != nil || cpu <= 0 || cpu > 600 {
		t.Errorf("%v s of CPU, %v", cpu, err)
	}
	m, err := memoryOf(os.Getpid())
	if err != nil || m.Now < 1<<20 || m.Peak < m.Now {
		t.Errorf("%+v, %v", m, err)
	}
}
