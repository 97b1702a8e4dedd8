package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extender "k8s.io/kube-scheduler/extender/v1"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
	"evenkeel.io/tests/e2e/kube/internal/pki"
	"evenkeel.io/tests/e2e/kube/internal/proxy"
)

// replace puts a file in place as those who rotate credentials do: whole, or not at all.
func (s *stage) replace(file string, text []byte) {
	s.Helper()
	s.must(os.WriteFile(file+".new", text, 0o600))
	s.must(os.Rename(file+".new", file))
}

// refuse has requests with a token refused, as often as said.
func (f *faulty) refuse(token string, times int) *proxy.Injection {
	answer := proxy.Failure(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
	return f.proxy.Inject(proxy.Fault{Times: times, Answer: answer, Match: func(r *http.Request) bool {
		return r.Header.Get("Authorization") == "Bearer "+token
	}})
}

// TestTokenFile: a token that is refused is read again at once; while the file has none to offer, the
// old one stays.
func TestTokenFile(t *testing.T) {
	var file string
	f := newFaultyAs(t, func(s *stage) cluster.Identity {
		file = filepath.Join(s.dir, "token")
		s.replace(file, []byte(cluster.EvenkeelToken(0)+"\n"))
		id := cluster.Evenkeel(0)
		id.Token, id.File = "", file
		return id
	})

	f.replace(file, []byte(cluster.EvenkeelToken(1)+"\n"))
	refused := f.refuse(cluster.EvenkeelToken(0), 0)
	f.proxy.ResetAll()
	f.waitHits(refused, 1)
	f.round()
	f.agree()
	perResource := map[string]int{}
	for _, r := range f.proxy.Requests(nil) {
		if r.Fault {
			perResource[r.URL.Path]++
		}
	}
	for path, count := range perResource {
		if count > 1 {
			t.Errorf("the old token was used %d times for %s after it was refused", count-1, path)
		}
	}

	for name, spoil := range map[string]func(){
		"empty":   func() { f.replace(file, nil) },
		"missing": func() {},
		"folder":  func() { f.must(os.Mkdir(file, 0o755)) },
	} {
		f.must(os.RemoveAll(file))
		spoil()
		refused := f.refuse(cluster.EvenkeelToken(1), 1)
		f.proxy.ResetAll()
		f.waitHits(refused, 1)
		f.round()
		f.agree()
		t.Logf("went on with the old token: %s", name)
	}
}

// TestServerCARotation: first both CAs are trusted, then the server's certificate changes, then the
// old CA goes. No request fails. A bundle that is broken changes nothing.
func TestServerCARotation(t *testing.T) {
	t.Parallel()
	var file string
	f := newFaultyAs(t, func(s *stage) cluster.Identity {
		file = filepath.Join(s.dir, "ca.crt")
		s.replace(file, s.CA.Cert)
		id := cluster.Evenkeel(0)
		id.CAFile = file
		return id
	})
	next, err := pki.NewAuthority("next-ca")
	f.must(err)
	serving, err := next.Server("127.0.0.1", cluster.ServerName)
	f.must(err)

	f.replace(file, append(append([]byte{}, f.CA.Cert...), next.Cert...))
	f.waitReload("ok", 1)
	f.must(f.proxy.Show(serving))
	f.proxy.ResetAll()
	f.round()
	f.agree()
	f.replace(file, next.Cert)
	f.waitReload("ok", 2)
	f.proxy.ResetAll()
	f.round()
	f.agree()
	f.replace(file, []byte("-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n"))
	f.waitReload("refused", 1)
	f.proxy.ResetAll()
	f.round()
	f.agree()
	if refusals := f.proxy.Refusals(); refusals > 0 {
		t.Errorf("the server's certificate was refused %d times", refusals)
	}
}

// waitReload returns when Evenkeel has read its CA so many times with this result. It looks when it
// sends something, so something is sent: a binding of a pod that does not exist.
func (f *faulty) waitReload(result string, times float64) {
	f.Helper()
	asked := time.Now()
	f.until("CA reload "+result, func(ctx context.Context) (bool, error) {
		if time.Since(asked) > 200*time.Millisecond {
			asked = time.Now()
			_ = f.evenkeel.Bind(ctx, &extender.ExtenderBindingArgs{ // there is no such pod
				PodName: "nobody", PodNamespace: f.id, PodUID: types.UID("none"), Node: "nowhere",
			})
		}
		metrics, err := f.evenkeel.Metrics(ctx)
		if err != nil {
			return false, err
		}
		series := fmt.Sprintf("evenkeel_kube_credential_reloads_total{kind=%q,result=%q}", "ca", result)
		return metrics[series] >= times, fmt.Errorf("%s is %v", series, metrics[series])
	})
}
