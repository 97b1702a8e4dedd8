package live

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/karmada-io/karmada/pkg/util/grpcconnection"

	"evenkeel.io/tests/e2e/karmada/internal/world"
)

// staleAfter is how long a member may be silent. Its API server is heard once a minute even if nothing happens; here
// something does, all the time.
const staleAfter = 5 * time.Second

// beats change one object of each kind that is watched in a member, twice a second.
type beats struct {
	lock sync.Mutex
	last time.Time
	late time.Time // when there was a pause for the last time that was too long
}

// areLate says whether one has been missing so long, just now, that a member may count as silent. `done`: here is one.
func (b *beats) areLate(done bool) bool {
	b.lock.Lock()
	defer b.lock.Unlock()
	now := time.Now()
	if now.Sub(b.last) > staleAfter/2 {
		b.late = now
	}
	if done {
		b.last = now
	}
	return now.Sub(b.late) < staleAfter/2
}

func beat(t *testing.T, i int) *beats {
	t.Helper()
	name := fmt.Sprintf("beats-%s", memberNames[i])
	waitingPods(t, members[i], name, 0)
	kube := members[i].Kube
	patches := []func(context.Context, []byte) error{
		func(ctx context.Context, patch []byte) error {
			_, err := kube.CoreV1().Nodes().Patch(ctx, "node-0", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		func(ctx context.Context, patch []byte) error {
			_, err := kube.CoreV1().Pods("default").Patch(ctx, name+"-1-0", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		func(ctx context.Context, patch []byte) error {
			_, err := kube.AppsV1().Deployments("default").Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		func(ctx context.Context, patch []byte) error {
			_, err := kube.AppsV1().ReplicaSets("default").Patch(ctx, name+"-1", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
	}
	b := &beats{last: time.Now()}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for count := 0; ctx.Err() == nil; count++ {
			patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"beat": "%d"}}}`, count)
			var all []func() error
			for _, one := range patches {
				all = append(all, func() error { return one(ctx, patch) })
			}
			b.areLate(together(all...) == nil)
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
	return b
}

// callers ask all the time for what is free on the nodes that are theirs, and remember every answer that was not
// allowed when its question was asked, and when it came.
type callers struct {
	lock    sync.Mutex
	beats   [2]*beats
	phase   string
	allowed [2]map[int32]bool
	changed time.Time // the last time
	briefly int32     // what the second member may have, too, in the first second of a phase
	same    int       // so many answers for the second member, the last ones, have been
	last    int32     // this
	wrong   map[string]*span

	stop    context.CancelFunc
	running sync.WaitGroup
}

// span is when something wrong was seen, after the last change.
type span struct {
	count       int
	first, last time.Duration
}

func (c *callers) blame(what string, since time.Duration) {
	if c.wrong[what] == nil {
		c.wrong[what] = &span{first: since}
	}
	c.wrong[what].count++
	c.wrong[what].last = since
}

// allow what the second member may be said to have, from now on. The first has four CPUs all the time.
func (c *callers) allow(phase string, answers ...int32) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.phase, c.changed = phase, time.Now()
	c.allowed = [2]map[int32]bool{{4: true}, {}}
	c.same, c.briefly = 0, unknown-1
	for _, answer := range answers {
		c.allowed[1][answer] = true
	}
}

// allowBriefly one more answer, for a second.
func (c *callers) allowBriefly(answer int32) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.briefly = answer
}

func (c *callers) mayBe(i int, answer int32) bool {
	return c.allowed[i][answer] || (answer == unknown && c.beats[i].areLate(false)) ||
		(i == 1 && answer == c.briefly && time.Since(c.changed) < time.Second)
}

func (c *callers) judge(begun time.Time, got map[int]int32, err error) {
	took := time.Since(begun)
	c.lock.Lock()
	defer c.lock.Unlock()
	if err != nil || took > timeout {
		c.blame(fmt.Sprintf("%v after %v", err, took), begun.Sub(c.changed))
		return
	}
	if begun.Before(c.changed) {
		return // both before and after would be right
	}
	if got[1] != c.last {
		c.last, c.same = got[1], 0
	}
	c.same++
	for i, answer := range got {
		if !c.mayBe(i, answer) {
			c.blame(fmt.Sprintf("%s: %s has %d, of %v", c.phase, memberNames[i], answer, slices.Sorted(maps.Keys(c.allowed[i]))), begun.Sub(c.changed))
		}
	}
}

func newCallers(t *testing.T, a *asker, beats [2]*beats, count int) *callers {
	ctx, stop := context.WithCancel(context.Background())
	c := &callers{stop: stop, beats: beats, wrong: map[string]*span{}}
	c.allow("begin", 4)
	for range count {
		c.running.Go(func() {
			for ctx.Err() == nil {
				begun := time.Now()
				got, err := a.askFor(movingNodes(), 0, 1)
				c.judge(begun, got, err)
				time.Sleep(time.Duration(rand.IntN(int(500 * time.Millisecond))))
			}
		})
	}
	t.Cleanup(func() {
		c.stop()
		c.running.Wait()
		for what, s := range c.wrong {
			t.Errorf("%s (%d times, %v to %v after a change)", what, s.count, s.first, s.last)
		}
	})
	return c
}

// until all callers have the one answer for the second member. It stays so.
func (c *callers) until(t *testing.T, what string, answer int32) {
	t.Helper()
	wait := func() {
		t.Helper()
		must(t, world.Until(t.Context(), what, func(context.Context) (bool, error) {
			c.lock.Lock()
			defer c.lock.Unlock()
			if c.last != answer || c.same < 400 {
				return false, fmt.Errorf("%d for %d times", c.last, c.same)
			}
			return true, nil
		}))
	}
	wait()
	c.allow(what, answer)
	wait()
}

// addMovingNode with four CPUs, on which nobody else's replicas go.
func addMovingNode(t *testing.T, i int) {
	t.Helper()
	taint := []corev1.Taint{{Key: "moving", Effect: corev1.TaintEffectNoSchedule}}
	must(t, members[i].AddNode(t.Context(), "moving", 4, taint...))
}

// account of a member, whose token is in a file.
type account struct {
	c    *world.ControlPlane
	file string
}

// create it, with a token.
func (a account) create(t *testing.T) {
	t.Helper()
	accounts := a.c.Kube.CoreV1().ServiceAccounts("default")
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "evenkeel"}}, metav1.CreateOptions{})
	must(t, err)
	made, err := accounts.CreateToken(t.Context(), "evenkeel", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	must(t, os.WriteFile(a.file+".new", []byte(made.Status.Token), 0o600))
	must(t, os.Rename(a.file+".new", a.file))
}

// remove it: its token says nothing any more, some seconds later.
func (a account) remove(t *testing.T) {
	t.Helper()
	must(t, a.c.Kube.CoreV1().ServiceAccounts("default").Delete(t.Context(), "evenkeel", metav1.DeleteOptions{}))
	token, err := os.ReadFile(a.file)
	must(t, err)
	config := rest.AnonymousClientConfig(a.c.Config)
	config.BearerToken = string(token)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	must(t, world.Until(t.Context(), "the token is refused", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil {
			time.Sleep(200 * time.Millisecond)
		} else if !apierrors.IsUnauthorized(err) {
			return false, err
		}
		return err != nil, nil
	}))
}

// TestFaults has one member that nothing happens to, and one that is cut off, slow, and refuses; callers ask for both.
func TestFaults(t *testing.T) {
	t.Parallel()
	address, err := members[1].Address()
	must(t, err)
	link, err := world.NewLink(address)
	must(t, err)
	t.Cleanup(link.Close)
	account := account{members[1], filepath.Join(folder(t), "token")}
	account.create(t)
	kubeconfig, err := members[1].KubeconfigOf(folder(t), "link.kubeconfig", link.Address, func(user *world.User) {
		*user = world.User{TokenFile: account.file}
	})
	must(t, err)
	must(t, members[1].Allow(t.Context(), "system:serviceaccount:default:evenkeel"))
	var beats [2]*beats
	for i := range members {
		addMovingNode(t, i)
		beats[i] = beat(t, i)
	}
	e := startEstimator(t, "--estimator-member", memberNames[0]+"="+members[0].Kubeconfig, "--estimator-member", memberNames[1]+"="+kubeconfig,
		"--stale-after", staleAfter.String())
	a := newAsker(t, e.Address, grpcconnection.ClientConfig{})
	c := newCallers(t, a, beats, 200)
	c.until(t, "all is well", 4)

	// Out of date, and then not known.
	link.Cut()
	c.allow("cut", 4, unknown)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "on-moving"}, Spec: corev1.PodSpec{NodeName: "moving"}}
	must(t, members[1].AddPod(t.Context(), pod, 1))
	c.until(t, "it is cut off", unknown)
	c.allow("healed", unknown, 3)
	c.allowBriefly(4) // an API server may be heard before it has said all that was missed
	link.Heal()
	c.until(t, "it is there again", 3)

	link.Slow(staleAfter / 20)
	c.until(t, "it is slow", 3)
	c.allow("too slow", unknown, 3)
	link.Slow(2 * staleAfter)
	time.Sleep(staleAfter)
	link.Slow(0)
	link.Drop()
	time.Sleep(staleAfter) // by then, what is still silent has been so for too long
	c.until(t, "it is fast again", 3)

	account.remove(t)
	c.allow("refused", unknown, 3)
	link.Drop()
	c.until(t, "it refuses", unknown)
	c.allow("not refused any more", unknown, 3)
	account.create(t)
	c.until(t, "it answers", 3)
}
