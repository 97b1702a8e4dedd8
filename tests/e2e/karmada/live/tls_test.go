package live

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// newCertificates of a CA of their own: ca.crt, tls.crt and tls.key for localhost, client.crt and client.key.
func newCertificates(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(folder(t), name)
	if output, err := exec.Command(setting(t, "EVENKEEL"), "certs", "init", "--dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("evenkeel certs init: %v: %s", err, output)
	}
	return dir
}

func servesTLS(certs string) []string {
	return append(everyMember(), "--estimator-cert-file", certs+"/tls.crt", "--estimator-key-file", certs+"/tls.key")
}

func asksForCertificates(certs string) []string {
	return append(servesTLS(certs), "--estimator-client-ca-file", certs+"/ca.crt")
}

func trusts(certs string) string { return "--scheduler-estimator-ca-file=" + certs + "/ca.crt" }

func shows(certs string) []string {
	return []string{"--scheduler-estimator-cert-file=" + certs + "/client.crt", "--scheduler-estimator-key-file=" + certs + "/client.key"}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certs := newCertificates(t, "certs")
	startScheduler(t, startEstimator(t, servesTLS(certs)...).Address, trusts(certs))
	byNodes(t)
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	certs := newCertificates(t, "certs")
	startScheduler(t, startEstimator(t, asksForCertificates(certs)...).Address, append(shows(certs), trusts(certs))...)
	byNodes(t)
}

// TestRefused has schedulers that get no connection: they are content with what summaries say.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string]func(ours, other string) []string{
		"other server CA": func(ours, other string) []string { return append(shows(ours), trusts(other)) },
		"other client CA": func(ours, other string) []string { return append(shows(other), trusts(ours)) },
		"no certificate":  func(ours, _ string) []string { return []string{trusts(ours)} },
		"plaintext":       func(_, _ string) []string { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, other := newCertificates(t, "ours"), newCertificates(t, "other")
			startScheduler(t, startEstimator(t, asksForCertificates(ours)...).Address, flags(ours, other)...)
			bySummaries(t)
		})
	}
}
