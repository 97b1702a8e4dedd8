package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// setup is a way to run kube-scheduler: with or without its own spreading, with or without Evenkeel.
type setup struct {
	name, verb string
	placer     *placer
	ours       *handlers // nil: Evenkeel is not asked
	play       *play     // under way
	percent    float64   // of bursts may end less evenly than with the plugin alone
}

// play is a burst in one set-up: an API server, kube-scheduler and Evenkeel in virtual time.
type play struct {
	*setup
	burst  *burst
	now    int
	events []event      // in order of time
	active []*playedPod // waiting for kube-scheduler
	pods   outcome
}

type event struct {
	at  int
	run func() error
}

// outcome is what the API server has, by name.
type outcome map[string]*playedPod

type playedPod struct {
	name     string
	pod      *corev1.Pod // with its node once it is bound
	attempts int
	deleted  bool
}

// playBurst returns the pods as they are when all is over.
func (s *setup) playBurst(ctx context.Context, b *burst) (outcome, error) {
	p := &play{setup: s, burst: b, pods: outcome{}}
	s.play = p
	rand.Seed(int64(b.seed))
	err := p.begin(ctx)
	if err == nil {
		err = p.run(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p.pods, p.end(ctx)
}

// ---- time ----

// at has something happen at a time, after what is to happen then already.
func (p *play) at(when int, run func() error) {
	i := slices.IndexFunc(p.events, func(e event) bool { return e.at > when })
	if i < 0 {
		i = len(p.events)
	}
	p.events = slices.Insert(p.events, i, event{when, run})
}

// passTo makes it so late, and has happen what is to happen until then.
func (p *play) passTo(when int) error {
	for len(p.events) > 0 && p.events[0].at <= when {
		next := p.events[0]
		p.events = p.events[1:]
		p.now = max(p.now, next.at)
		if err := next.run(); err != nil {
			return err
		}
	}
	p.now = max(p.now, when)
	return p.tell("clock", fmt.Append(nil, p.now))
}

func (p *play) run(ctx context.Context) error {
	for len(p.events) > 0 || len(p.active) > 0 {
		if len(p.active) == 0 {
			if err := p.passTo(p.events[0].at); err != nil {
				return err
			}
			continue
		}
		one := p.active[0]
		p.active = p.active[1:]
		if err := p.schedule(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// ---- beginning and end ----

func (p *play) begin(ctx context.Context) error {
	items, err := p.fill(ctx)
	if err != nil {
		return err
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err
	}
	if err := p.tell("open", nil); err != nil {
		return err
	}
	for _, a := range p.burst.arrivals {
		p.arrive(a)
	}
	for _, d := range p.burst.deletions {
		p.at(d.at, func() error { p.delete(ctx, d); return nil })
	}
	return p.tell("apply", list)
}

// fill puts what is there at first into kube-scheduler, and returns it.
func (p *play) fill(ctx context.Context) (items []any, err error) {
	logger := klog.FromContext(ctx)
	for _, node := range p.burst.nodes {
		p.placer.scheduler.Cache.AddNode(logger, node)
		items = append(items, node)
	}
	for _, service := range p.burst.services {
		if err := p.placer.services().Add(service); err != nil {
			return nil, err
		}
		items = append(items, service)
	}
	for _, pod := range p.burst.running {
		if err := p.placer.scheduler.Cache.AddPod(logger, pod); err != nil {
			return nil, err
		}
		items = append(items, pod)
		p.pods[pod.Name] = &playedPod{name: pod.Name, pod: pod}
	}
	return items, nil
}

// end takes everything out of kube-scheduler.
func (p *play) end(ctx context.Context) error {
	logger, cache := klog.FromContext(ctx), p.placer.scheduler.Cache
	for _, one := range p.pods {
		if one.pod.Spec.NodeName == "" || one.deleted {
			continue
		}
		if err := cache.RemovePod(logger, one.pod); err != nil {
			return err
		}
	}
	for _, node := range p.burst.nodes {
		if err := cache.RemoveNode(logger, node); err != nil {
			return err
		}
	}
	return p.placer.services().Replace(nil, "")
}

// tell commands Evenkeel's driver.
func (p *play) tell(word string, body []byte) error {
	if p.ours == nil {
		return nil
	}
	_, err := p.ours.run(word, body)
	return err
}

// ---- pods ----

func (p *play) arrive(a arrival) {
	one := &playedPod{name: a.name, pod: a.workload.pod(a.name)}
	p.at(a.at, func() error {
		p.pods[one.name] = one
		p.active = append(p.active, one)
		p.show(one.pod)
		return nil
	})
}

// show has Evenkeel see the pod as it is now, when its watch has caught up.
func (p *play) show(pod *corev1.Pod) {
	text := []byte(toJSON(pod))
	p.at(p.now+p.burst.lag, func() error { return p.tell("apply", text) })
}

// schedule is a scheduling cycle and what follows of it.
func (p *play) schedule(ctx context.Context, one *playedPod) error {
	began := p.now
	if err := p.passTo(began); err != nil {
		return err
	}
	node, err := p.placer.place(ctx, one.pod)
	if err != nil {
		return err
	}
	if err := p.passTo(began + p.burst.cycle); err != nil {
		return err
	}
	one.attempts++
	refused, backoff := p.burst.refuses(one.name, one.attempts)
	comeAgain := func() error { p.active = append(p.active, one); return nil }
	if node == "" && one.attempts < 5 { // something may be deleted meanwhile
		p.at(p.now+backoff, comeAgain)
	}
	if node == "" {
		return nil
	}
	logger, cache := klog.FromContext(ctx), p.placer.scheduler.Cache
	assumed := one.pod.DeepCopy()
	assumed.Spec.NodeName = node
	p.at(p.now+p.burst.binding, func() error {
		if refused {
			p.show(one.pod) // it has got a condition
			p.at(p.now+backoff, comeAgain)
			return cache.ForgetPod(logger, assumed)
		}
		one.pod = assumed
		p.show(one.pod)
		p.at(p.now+p.burst.lag, func() error { return cache.AddPod(logger, assumed) })
		return nil
	})
	return cache.AssumePod(logger, assumed)
}

func (p *play) delete(ctx context.Context, d deletion) {
	one := p.pods[d.victim]
	if one == nil || one.pod.Spec.NodeName == "" || one.deleted {
		return
	}
	one.deleted = true
	text := []byte(toJSON(one.pod))
	p.at(p.now+p.burst.lag, func() error {
		if err := p.placer.scheduler.Cache.RemovePod(klog.FromContext(ctx), one.pod); err != nil {
			return err
		}
		return p.tell("remove", text)
	})
	p.arrive(d.replacement)
}

// skew is by how much the domains of a key differ in pods of the workload.
func (o outcome) skew(b *burst, w *workload, key string) int {
	domainOf, counts := map[string]string{}, map[string]int{}
	for _, node := range b.nodes {
		domainOf[node.Name] = node.Labels[key]
		counts[node.Labels[key]] = 0
	}
	for _, one := range o {
		if one.pod.Spec.NodeName != "" && !one.deleted && one.pod.Labels["app"] == w.name {
			counts[domainOf[one.pod.Spec.NodeName]]++
		}
	}
	least, most := len(o), 0
	for _, count := range counts {
		least, most = min(least, count), max(most, count)
	}
	return most - least
}
