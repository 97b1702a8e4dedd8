package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// Documented defaults: see leaderElection in docs/configuration.md.
const (
	renewDeadline = 10 * time.Second
	takeover      = 20 * time.Second // src/kubernetes/kube/election/lease.h says 19.4 s
)

// replica is one of two that share a Lease, with a proxy of its own before the API server.
type replica struct {
	*evenkeel.Evenkeel
	proxy *proxy.Proxy
}

// replicas starts two, with the rights that docs/examples gives, and waits until one leads; `changes` see
// their options.
func replicas(t *testing.T, changes ...func(*evenkeel.Options)) (s *stage, leader, other replica) {
	t.Helper()
	s = newStage(t)
	s.needsWatch()
	s.mayLead()
	both := [2]replica{}
	for i := range both {
		p := s.upstream()
		both[i] = replica{proxy: p, Evenkeel: s.prepared(func(o *evenkeel.Options) {
			s.throughAs(p, cluster.Evenkeel(i))(o)
			o.Name = fmt.Sprintf("%s-%d", s.id, i)
			o.Settings["leaderElection"] = map[string]any{"enabled": true, "leaseNamespace": s.id}
			o.Settings["reservations"] = map[string]any{"mode": "SingleNode"} // what makes only one ready
			for _, change := range changes {
				change(o)
			}
		})}
		s.must(both[i].Launch())
		s.Cleanup(func() {
			if !both[i].Running() {
				return
			}
			if err := both[i].Stop(); err != nil {
				s.Error(err)
			}
		})
	}
	s.until("a leader", func(context.Context) (bool, error) {
		if s.leads(both[1]) {
			both[0], both[1] = both[1], both[0]
		}
		return s.leads(both[0]), nil
	})
	// A follower that has not seen the leader's Lease could not follow it.
	s.until("the other to know the cluster", func(context.Context) (bool, error) {
		return s.notReadyWith(both[1], "[+] state"), nil
	})
	return s, both[0], both[1]
}

// mayLead binds what an administrator would bind to Evenkeel's ServiceAccount.
func (s *stage) mayLead() {
	s.Helper()
	text, err := os.ReadFile("../../../docs/examples/kubernetes/rbac-leader.yaml")
	s.must(err)
	role, binding := &rbac.Role{}, &rbac.RoleBinding{}
	parts := bytes.Split(text, []byte("\n---\n"))
	if len(parts) != 2 {
		s.Fatalf("rbac-leader.yaml has %d objects, not a Role and a RoleBinding", len(parts))
	}
	s.must(yaml.UnmarshalStrict(parts[0], role))
	s.must(yaml.UnmarshalStrict(parts[1], binding))
	role.Namespace, binding.Namespace = s.id, s.id
	binding.Subjects = []rbac.Subject{{APIGroup: rbac.GroupName, Kind: rbac.UserKind, Name: cluster.EvenkeelUser}}
	_, err = s.Client.RbacV1().Roles(s.id).Create(s.ctx, role, metav1.CreateOptions{})
	s.must(err)
	_, err = s.Client.RbacV1().RoleBindings(s.id).Create(s.ctx, binding, metav1.CreateOptions{})
	s.must(err)
}

// leads asks the endpoint that a Service would go by.
func (s *stage) leads(r replica) bool {
	s.Helper()
	_, err := r.Ops(s.ctx, "/readyz")
	return err == nil
}

// notReadyWith: it is not ready, and says this.
func (s *stage) notReadyWith(r replica, part string) bool {
	s.Helper()
	_, err := r.Ops(s.ctx, "/readyz")
	return err != nil && strings.Contains(err.Error(), part)
}

// notBoth asks the one that may begin too early first: the other has no time to end in between.
func (s *stage) notBoth(late, next replica) {
	s.Helper()
	if s.leads(next) && s.leads(late) {
		s.Error("two replicas lead")
	}
}

// TestLeaderKilled: the other one leads soon.
func TestLeaderKilled(t *testing.T) {
	t.Parallel()
	s, leader, other := replicas(t)
	leader.Kill()
	began := time.Now()
	s.until("the other to lead", func(context.Context) (bool, error) { return s.leads(other), nil })
	if took := time.Since(began); took > takeover {
		t.Errorf("it leads after %v", took)
	}
}

// TestLeaderStops: in good order, so that nobody has to wait for its Lease to end.
func TestLeaderStops(t *testing.T) {
	t.Parallel()
	s, leader, other := replicas(t)
	s.must(leader.Stop())
	began := time.Now()
	s.until("the other to lead", func(context.Context) (bool, error) { return s.leads(other), nil })
	if took := time.Since(began); took > renewDeadline {
		t.Errorf("it leads after %v, as if the first one had died", took)
	}
}

// TestLeaderCutOff: nothing that the leader sends arrives any more, and it is not told. It stops leading
// before the other one begins, and follows when it is back.
func TestLeaderCutOff(t *testing.T) {
	t.Parallel()
	s, leader, other := replicas(t)
	fault := leader.proxy.Inject(proxy.Fault{Match: proxy.Any, Answer: proxy.Silent()})
	leader.proxy.ResetAll()
	began := time.Now()
	s.until("the leader to stop leading", func(context.Context) (bool, error) {
		s.notBoth(leader, other)
		return !s.leads(leader), nil
	})
	if took := time.Since(began); took > renewDeadline+time.Second {
		t.Errorf("it stops leading only after %v", took)
	}
	if s.leads(other) {
		t.Error("the other one leads already")
	}
	s.until("the other to lead", func(context.Context) (bool, error) { return s.leads(other), nil })
	t.Logf("e2e: the other one leads %.1f s after the cut", time.Since(began).Seconds())
	fault.Remove()
	leader.proxy.ResetAll() // those that were left hanging
	s.until("the first one to follow", func(context.Context) (bool, error) {
		s.notBoth(leader, other)
		return s.notReadyWith(leader, "another one"), nil
	})
	s.must(other.Stop())
	s.until("the first one to lead again", func(context.Context) (bool, error) { return s.leads(leader), nil })
}
