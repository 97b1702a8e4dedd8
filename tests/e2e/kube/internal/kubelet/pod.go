package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

const (
	refill  = 5 * time.Second // how often volumes are looked at
	retry   = time.Second     // after what a pod needs was not there
	backoff = 2 * time.Second // before a container that has ended is started again; it doubles
	relist  = time.Second     // how often it looks which containers run: genericPlegRelistPeriod of pkg/kubelet
)

// podRunner runs one pod from its binding to its deletion. One goroutine owns everything in it but `latest`.
type podRunner struct {
	*kubelet
	latest    atomic.Pointer[v1.Pod]
	changed   chan struct{} // something is in latest
	dir       string
	apiServer []string // its address, as variables
	volumes   *volumes
	sandbox   *sandbox
	runs      []*runs
	verdicts  chan verdict
	exits     chan *container
	starts    chan int // containers whose pause is over, by index
	reported  *v1.PodStatus
	begun     metav1.Time
	seen      atomic.Pointer[[]*container] // those that run, for the server
}

// runs are those of one container of the pod.
type runs struct {
	now, last  *container
	image      *image
	restarts   int32
	ready      bool
	stopProbes context.CancelFunc
	waiting    string // why, while none runs
	message    string
}

func (p *podRunner) pod() *v1.Pod { return p.latest.Load() }

// containers that run; for any goroutine.
func (p *podRunner) containers() []*container {
	if seen := p.seen.Load(); seen != nil {
		return *seen
	}
	return nil
}

// runners are all pods of the node.
type runners struct {
	mu  sync.Mutex
	all map[types.UID]*podRunner
}

func (r *runners) find(namespace, name string) *podRunner {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all {
		if pod := p.pod(); pod.Namespace == namespace && pod.Name == name {
			return p
		}
	}
	return nil
}

// watch runs the pods that are bound to this node until ctx ends.
func (k *kubelet) watch(ctx context.Context) {
	factory := informers.NewSharedInformerFactoryWithOptions(k.client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", k.node).String()
		}))
	see := func(object any) {
		pod, ok := object.(*v1.Pod)
		if !ok {
			return
		}
		k.pods.mu.Lock()
		defer k.pods.mu.Unlock()
		p := k.pods.all[pod.UID]
		if p == nil {
			p = &podRunner{kubelet: k, changed: make(chan struct{}, 1), dir: filepath.Join(k.dir, "pods", string(pod.UID)),
				verdicts: make(chan verdict), exits: make(chan *container), starts: make(chan int)}
			k.pods.all[pod.UID] = p
			p.latest.Store(pod)
			go p.run(ctx)
			return
		}
		p.latest.Store(pod)
		p.poke()
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, now any) { see(now) }, DeleteFunc: func(object any) {
			if pod, ok := object.(*v1.Pod); ok {
				k.gone(pod)
			}
		},
	})
	if err != nil {
		k.log.say("the watch: %v", err)
		return
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
}

// gone is for a pod that was deleted at once: it ends without grace.
func (k *kubelet) gone(pod *v1.Pod) {
	k.pods.mu.Lock()
	defer k.pods.mu.Unlock()
	p := k.pods.all[pod.UID]
	if p == nil {
		return
	}
	last := pod.DeepCopy()
	last.DeletionTimestamp, last.DeletionGracePeriodSeconds = ptr.To(metav1.Now()), ptr.To(int64(0))
	p.latest.Store(last)
	p.poke()
}

func (p *podRunner) poke() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// run is the pod's life.
func (p *podRunner) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.begun = metav1.Now()
	pod := p.pod()
	p.log.say("pod %s/%s begins", pod.Namespace, pod.Name)
	for i := range pod.Spec.Containers {
		p.runs = append(p.runs, &runs{now: &container{Container: &pod.Spec.Containers[i]}, waiting: "ContainerCreating"})
	}
	if err := unsupported(pod); err != nil {
		p.message(err)
		p.untilDeleted(ctx, 0)
	} else if p.prepare(ctx) {
		for i := range p.runs {
			p.begin(ctx, i)
		}
		p.live(ctx)
		p.end(ctx)
	}
	p.forget(ctx)
}

// unsupported says what this kubelet cannot do.
func unsupported(pod *v1.Pod) error {
	s := &pod.Spec
	if s.HostNetwork || s.HostPID || s.HostIPC || len(s.InitContainers) > 0 || len(s.ResourceClaims) > 0 {
		return errors.New("this kubelet runs no pods with host namespaces, init containers or resource claims")
	}
	for _, c := range s.Containers {
		for _, probe := range []*v1.Probe{c.LivenessProbe, c.ReadinessProbe} {
			if probe != nil && probe.HTTPGet == nil {
				return fmt.Errorf("this kubelet knows HTTP probes only, and container %s has another one", c.Name)
			}
		}
		if c.StartupProbe != nil || c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
			return fmt.Errorf("this kubelet knows neither startup probes nor postStart, which container %s has", c.Name)
		}
	}
	return nil
}

// prepare makes all that the containers need, however long that takes; false: the pod was deleted meanwhile.
func (p *podRunner) prepare(ctx context.Context) bool {
	for {
		err := p.tryPrepare(ctx)
		if err == nil {
			return true
		}
		p.log.say("pod %s: %v", p.pod().Name, err)
		p.message(err)
		if p.untilDeleted(ctx, retry) {
			return false
		}
	}
}

func (p *podRunner) tryPrepare(ctx context.Context) (err error) {
	pod := p.pod()
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	if p.volumes == nil {
		p.volumes = &volumes{kubelet: p.kubelet, pod: pod, dir: filepath.Join(p.dir, "volumes"), tokens: map[string]boundToken{}}
	}
	if p.sandbox == nil {
		if p.sandbox, err = p.newSandbox(); err != nil {
			return err
		}
		if err := p.nodeFiles(); err != nil {
			return err
		}
	}
	service, err := p.client.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return err
	}
	p.apiServer = []string{"KUBERNETES_SERVICE_HOST=" + service.Spec.ClusterIP,
		fmt.Sprintf("KUBERNETES_SERVICE_PORT=%d", service.Spec.Ports[0].Port)}
	if err := p.volumes.fill(ctx); err != nil {
		return err
	}
	for _, r := range p.runs {
		if r.image, err = p.images.pull(ctx, r.now.Image); err != nil {
			r.waiting = "ErrImagePull"
			return err
		}
		r.waiting = "ContainerCreating"
	}
	return nil
}

// nodeFiles are those that a kubelet, and not the image, has in /etc.
func (p *podRunner) nodeFiles() error {
	pod := p.pod()
	for name, text := range map[string]string{
		"hosts":       fmt.Sprintf("127.0.0.1\tlocalhost\n::1\tlocalhost\n%s\t%s\n", p.sandbox.address, pod.Name),
		"hostname":    pod.Name + "\n",
		"resolv.conf": "search " + pod.Namespace + ".svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// message has the status say why nothing runs.
func (p *podRunner) message(err error) {
	for _, r := range p.runs {
		r.message = err.Error()
	}
	p.report()
}

// untilDeleted waits for that, at most so long unless that is 0, and says whether it came.
func (p *podRunner) untilDeleted(ctx context.Context, limit time.Duration) bool {
	var over <-chan time.Time
	if limit > 0 {
		over = time.After(limit)
	}
	for p.pod().DeletionTimestamp == nil {
		select {
		case <-ctx.Done():
			return true
		case <-over:
			return false
		case <-p.changed:
		}
	}
	return true
}

// begin starts a container's next run, and its probes.
func (p *podRunner) begin(ctx context.Context, i int) {
	r := p.runs[i]
	c := &container{Container: &p.pod().Spec.Containers[i], image: r.image}
	err := func() (err error) {
		if c.uid, c.gid, err = user(p.pod(), c.Container, r.image); err != nil {
			return err
		}
		if c.env, err = p.environment(c.Container, r.image); err != nil {
			return err
		}
		return p.start(c, int(r.restarts))
	}()
	if err != nil {
		p.log.say("pod %s, container %s: %v", p.pod().Name, c.Name, err)
		r.waiting, r.message = "CreateContainerError", err.Error()
		p.later(ctx, i, backoff)
		p.report()
		return
	}
	r.now, r.waiting, r.message = c, "", ""
	p.seen.Store(p.present())
	go func() {
		<-c.exited
		pause(ctx, relist-time.Since(p.kubelet.began)%relist)
		select {
		case p.exits <- c:
		case <-ctx.Done():
		}
	}()
	probes, stop := context.WithCancel(ctx)
	r.stopProbes = stop
	tell := func(v verdict) {
		select {
		case p.verdicts <- v:
		case <-probes.Done():
		}
	}
	r.ready = c.ReadinessProbe == nil
	if c.ReadinessProbe != nil {
		go probe(probes, c, p.sandbox.address.String(), c.ReadinessProbe, false, tell)
	}
	if c.LivenessProbe != nil {
		go probe(probes, c, p.sandbox.address.String(), c.LivenessProbe, true, tell)
	}
	p.report()
}

// later starts a container after a pause.
func (p *podRunner) later(ctx context.Context, i int, after time.Duration) {
	time.AfterFunc(after, func() {
		select {
		case p.starts <- i:
		case <-ctx.Done():
		}
	})
}

func (p *podRunner) present() *[]*container {
	var all []*container
	for _, r := range p.runs {
		if r.now.running() {
			all = append(all, r.now)
		}
	}
	return &all
}

// live goes on until the pod is deleted.
func (p *podRunner) live(ctx context.Context) {
	tick := time.NewTicker(refill)
	defer tick.Stop()
	for p.pod().DeletionTimestamp == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-p.changed:
		case v := <-p.verdicts:
			p.judge(v)
		case c := <-p.exits:
			p.exited(ctx, c)
		case i := <-p.starts:
			p.begin(ctx, i)
		case <-tick.C:
			if err := p.volumes.fill(ctx); err != nil && ctx.Err() == nil {
				p.log.say("pod %s: %v", p.pod().Name, err)
			}
		}
	}
}

// judge takes a probe's verdict. Who is not alive is ended; that it has ended comes later.
func (p *podRunner) judge(v verdict) {
	for _, r := range p.runs {
		if r.now != v.of {
			continue
		}
		p.log.say("pod %s, container %s: liveness %t, good %t %s", p.pod().Name, v.of.Name, v.liveness, v.good, v.why)
		if v.liveness && !v.good {
			grace := time.Duration(ptr.Deref(p.pod().Spec.TerminationGracePeriodSeconds, 30)) * time.Second
			go v.of.stop(grace)
		}
		if !v.liveness {
			r.ready = v.good
			p.report()
		}
	}
}

// exited has a container started again, unless the pod says otherwise.
func (p *podRunner) exited(ctx context.Context, c *container) {
	for i, r := range p.runs {
		if r.now != c {
			continue
		}
		p.log.say("pod %s, container %s ended: %d", p.pod().Name, c.Name, c.code)
		r.stopProbes()
		r.ready = false
		policy := p.pod().Spec.RestartPolicy
		if p.pod().DeletionTimestamp == nil && (policy == v1.RestartPolicyAlways || policy == v1.RestartPolicyOnFailure && c.code != 0) {
			r.last, r.waiting = c, "CrashLoopBackOff"
			p.later(ctx, i, backoff<<min(r.restarts, 5))
			r.restarts++
		}
		p.report()
	}
}
