package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/evenkeel"
)

// What a pod would find: the service account's folder, and here a resolver that knows nobody. Both are
// seen by one process only, in a mount namespace of its own.
const asPod = `set -e
run=$(realpath /var/run)
mount -t tmpfs none "$run"
mkdir -p "$run/secrets/kubernetes.io"
mkdir "$run/secrets/kubernetes.io/serviceaccount"
mount --bind "$1" "$run/secrets/kubernetes.io/serviceaccount"
mount --bind "$1/resolv.conf" "$(realpath /etc/resolv.conf)"
shift
exec "$@"`

// TestInClusterWithoutDNS: with a service account's token, and no name service, Evenkeel finds the API
// server by the address in its environment.
func TestInClusterWithoutDNS(t *testing.T) {
	s := newStage(t)
	s.needsWatch()
	if output, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace to be had here: %v %s", err, output)
	}
	folder := filepath.Join(s.dir, "serviceaccount")
	s.must(os.Mkdir(folder, 0o755))
	for name, text := range map[string]string{
		"token": s.serviceAccountToken("evenkeel"), "ca.crt": string(s.CA.Cert), "namespace": s.id,
		"resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
	} {
		s.must(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	address, err := url.Parse(s.URL())
	s.must(err)
	c := &churn{stage: s}
	c.round()
	e := s.evenkeel(func(o *evenkeel.Options) {
		o.Settings["kubernetes"] = map[string]any{"inCluster": true}
		o.Env = []string{"KUBERNETES_SERVICE_HOST=" + address.Hostname(), "KUBERNETES_SERVICE_PORT=" + address.Port()}
		o.Wrap = []string{"unshare", "--mount", "--propagation", "private", "sh", "-c", asPod, "sh", folder}
	})
	c.agree(e)
	c.round()
	c.agree(e)
}

// serviceAccountToken makes an account that may do what Evenkeel needs, and gets a token as the kubelet
// would.
func (s *stage) serviceAccountToken(name string) string {
	s.Helper()
	accounts := s.Client.CoreV1().ServiceAccounts(s.id)
	account := &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := accounts.Create(s.ctx, account, metav1.CreateOptions{})
	s.must(err)
	_, err = s.Client.RbacV1().ClusterRoleBindings().Create(s.ctx, &rbac.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.id + "-" + name},
		RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: cluster.EvenkeelUser},
		Subjects:   []rbac.Subject{{Kind: rbac.ServiceAccountKind, Namespace: s.id, Name: name}},
	}, metav1.CreateOptions{})
	s.must(err)
	token, err := accounts.CreateToken(s.ctx, name, &authentication.TokenRequest{}, metav1.CreateOptions{})
	s.must(err)
	return token.Status.Token
}
