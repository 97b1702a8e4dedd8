package e2e

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

type finding struct{ Severity, Field, Problem, Advice string }

// findings of `evenkeel check WHAT FILE`. Its exit code is 1 when there are errors, which are looked at
// here.
func (s *stage) findings(what, file string, flags ...string) []finding {
	s.Helper()
	output, err := exec.Command(binary, append([]string{"check", what, file, "-o", "json"}, flags...)...).Output()
	var told struct{ Findings []finding }
	if json.Unmarshal(output, &told) != nil {
		s.Fatalf("check %s: %v, it prints %q", what, err, output)
	}
	return told.Findings
}

// check is what `evenkeel check cluster` finds, beside the notes: "error may not list pods", without
// the reason.
func (s *stage) check(e *evenkeel.Evenkeel) (found []string) {
	s.Helper()
	for _, f := range s.findings("cluster", e.ConfigFile) {
		if f.Severity != "info" {
			what, _, _ := strings.Cut(f.Problem, ": ")
			found = append(found, f.Severity+" "+what)
		}
	}
	slices.Sort(found)
	return found
}

// TestCheckCluster: what Evenkeel's user may not do is found before it fails, and nothing is once it has
// the rights that users are shown.
func TestCheckCluster(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	s.zones(2, 2)
	e := s.prepared(func(o *evenkeel.Options) {
		o.Settings["leaderElection"] = map[string]any{"enabled": true, "leaseNamespace": s.id}
		o.Settings["webhook"] = map[string]any{"listen": "127.0.0.1:9443", "certificates": map[string]any{
			"mode": "SelfSigned", "secretName": secretName, "secretNamespace": s.id,
			"hosts": []string{"127.0.0.1"}, "configurations": []string{s.id},
		}}
	})
	in := ", namespace " + s.id
	secret := "secrets, object " + secretName + in
	lease := "leases in API group coordination.k8s.io"
	bundle := "mutatingwebhookconfigurations in API group admissionregistration.k8s.io, object " + s.id
	events := "events in API group events.k8s.io, namespace "
	want := []string{
		"error may not create " + lease + in,
		"error may not create secrets" + in,
		"error may not get " + lease + ", object evenkeel-controllers" + in,
		"error may not list " + bundle,
		"error may not list " + secret,
		"error may not patch " + bundle,
		"error may not patch " + secret,
		"error may not update " + lease + ", object evenkeel-controllers" + in,
		"error may not watch " + bundle,
		"error may not watch " + secret,
		// Of workloads, of the leader, of the certificate, and of policies.
		"warning may not create events in API group events.k8s.io",
		"warning may not create " + events + s.id,
		"warning may not create " + events + s.id,
		"warning may not create " + events + "default",
		"warning may not create " + events + "default",
		"warning may not patch events in API group events.k8s.io",
		"warning may not patch " + events + s.id,
		"warning may not patch " + events + s.id,
		"warning may not patch " + events + "default",
		"warning may not patch " + events + "default",
	}
	slices.Sort(want)
	if found := s.check(e); !slices.Equal(found, want) {
		t.Errorf("found\n%s\nand not\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
	s.mayLead()
	s.mayKeepCertificates()
	s.mayTellOfWorkloads()
	if found := s.check(e); len(found) > 0 {
		t.Errorf("all is granted, and found is %+v", found)
	}
}
