package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// eventResults are times in milliseconds since a request that creates a bound pod was sent.
type eventResults struct {
	Count int `json:"count"`
	// Nobody polls: what the API server and a client-go watch take by themselves.
	QuietWatch spread `json:"quietWatch"`
	// Evenkeel is asked without pause meanwhile, which takes its share of the processors.
	Created spread  `json:"created"` // the API server has answered
	Watch   spread  `json:"watch"`   // a client-go watch of the same pods tells
	Answer  spread  `json:"answer"`  // Evenkeel's answer shows it
	Behind  spread  `json:"behind"`  // from Watch to Answer; negative where Evenkeel was first
	Asked   float64 `json:"asked"`   // questions per change
	AskedMS spread  `json:"askedMilliseconds"`
}

// spread of a number of measurements.
type spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

func spreadOf(values []float64) spread {
	return spread{P50: percentile(values, 50), P99: percentile(values, 99)}
}

const eventLimit = time.Minute

func (b *bench) measureEvents(ctx context.Context) error {
	e, err := b.newEvenkeel("events")
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	if err := b.launch(limited, e); err != nil {
		return err
	}
	defer e.Kill()
	w, err := watchPods(ctx, b.client, metav1.ListOptions{FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	if err != nil {
		return err
	}
	defer w.stop()
	a, err := newAsker(e)
	if err != nil {
		return err
	}
	defer a.close()
	b.results.Events.Count = b.events
	say("%d changes, watched", b.events)
	if err := b.quietEvents(ctx, w); err != nil {
		return err
	}
	say("%d changes, while Evenkeel is asked", b.events)
	return b.askedEvents(ctx, w, a)
}

func (b *bench) quietEvents(ctx context.Context, w *podWatch) error {
	var watched []float64
	for i := range b.events {
		pod := eventPod("quiet", i)
		began := time.Now()
		if _, err := create(ctx, b.client, pod); err != nil {
			return err
		}
		at, err := w.bound(ctx, pod.Name)
		if err != nil {
			return err
		}
		watched = append(watched, ms(at.Sub(began)))
	}
	b.results.Events.QuietWatch = spreadOf(watched)
	return b.deleteEvents(ctx, "quiet")
}

func (b *bench) askedEvents(ctx context.Context, w *podWatch, a *asker) error {
	var created, watched, answered, behind, took []float64
	r := &b.results.Events
	for i := range b.events {
		e, err := oneEvent(ctx, b.client, w, a, i)
		if err != nil {
			return err
		}
		created = append(created, ms(e.created.Sub(e.began)))
		watched = append(watched, ms(e.watched.Sub(e.began)))
		answered = append(answered, ms(e.answered.Sub(e.began)))
		behind = append(behind, ms(e.answered.Sub(e.watched)))
		took = append(took, e.took...)
	}
	r.Created, r.Watch, r.Answer = spreadOf(created), spreadOf(watched), spreadOf(answered)
	r.Behind, r.AskedMS = spreadOf(behind), spreadOf(took)
	r.Asked = float64(len(took)) / float64(b.events)
	return b.deleteEvents(ctx, "asked")
}

// event is when what happened.
type event struct {
	began, created, watched, answered time.Time
	took                              []float64 // each question, in ms
}

// oneEvent puts a pod on a node that has none of its group, and asks for another one until Evenkeel
// says that this node is full.
func oneEvent(ctx context.Context, client kubernetes.Interface, w *podWatch, a *asker, i int) (event, error) {
	ctx, cancel := context.WithTimeout(ctx, eventLimit)
	defer cancel()
	var e event
	pod := eventPod("asked", i)
	// The other node has no pod of the group before the last event.
	question, err := a.question(eventPod("asked", i+1), nodeName(i), nodeName(i+1))
	if err != nil {
		return e, err
	}
	if full, err := a.ask(question, nodeName(i)); err != nil || full {
		return e, fmt.Errorf("before pod %s was created its node was full: %v, %w", pod.Name, full, err)
	}
	createdAt := make(chan time.Time, 1)
	createErr := make(chan error, 1)
	e.began = time.Now()
	go func() {
		_, err := create(ctx, client, pod)
		createdAt <- time.Now()
		createErr <- err
	}()
	for full := false; !full; {
		before := time.Now()
		if full, err = a.ask(question, nodeName(i)); err != nil {
			return e, err
		}
		e.answered = time.Now()
		e.took = append(e.took, ms(e.answered.Sub(before)))
		if err := ctx.Err(); err != nil {
			return e, fmt.Errorf("Evenkeel does not show pod %s: %w", pod.Name, err)
		}
	}
	e.created = <-createdAt
	if err := <-createErr; err != nil {
		return e, err
	}
	e.watched, err = w.bound(ctx, pod.Name)
	return e, err
}

// eventPod is bound, and one per host of its group is enough.
func eventPod(group string, i int) *v1.Pod {
	labels := map[string]string{"app": "event-" + group}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespaceName(0), Name: fmt.Sprintf("event-%s-%d", group, i), Labels: labels,
		},
		Spec: v1.PodSpec{
			NodeName: nodeName(i), Containers: containers(0), TerminationGracePeriodSeconds: new(int64(0)),
			TopologySpreadConstraints: []v1.TopologySpreadConstraint{{
				TopologyKey: v1.LabelHostname, MaxSkew: 1, WhenUnsatisfiable: v1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
			}},
		},
	}
}

func create(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) (*v1.Pod, error) {
	return client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
}

func (b *bench) deleteEvents(ctx context.Context, group string) error {
	return each(b.events, func(i int) error {
		pod := eventPod(group, i)
		return b.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	})
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
