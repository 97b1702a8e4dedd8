package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"evenkeel.io/tests/e2e/kube/internal/cluster"
)

const (
	chartFolder  = "../../../charts/evenkeel"
	valuesFolder = "../../packaging/values"
)

// helm runs the program as an administrator, in the stage's namespace, and returns what it prints.
func (s *stage) helm(arguments ...string) (string, error) {
	s.Helper()
	kubeconfig, err := s.Kubeconfig(cluster.Admin())
	s.must(err)
	program, err := filepath.Abs(setting("HELM", "../../../build/tools/helm"))
	s.must(err)
	command := exec.Command(program, append(arguments, "--namespace", s.id, "--kubeconfig", kubeconfig)...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+s.dir, "HELM_CONFIG_HOME="+s.dir, "HELM_DATA_HOME="+s.dir)
	var output, said bytes.Buffer
	command.Stdout, command.Stderr = &output, &said
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("helm %s: %w\n%s", arguments[0], err, said.String())
	}
	return output.String(), nil
}

// documents of what Helm prints, as objects.
func (s *stage) documents(text string) (objects []*unstructured.Unstructured) {
	s.Helper()
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		object := &unstructured.Unstructured{}
		s.must(yaml.Unmarshal([]byte(document), &object.Object))
		if object.GetKind() != "" {
			objects = append(objects, object)
		}
	}
	return objects
}

// dryRunner has the API server judge objects without storing them.
type dryRunner struct {
	*stage
	client dynamic.Interface
	mapper meta.RESTMapper
}

func (s *stage) dryRunner() *dryRunner {
	s.Helper()
	groups, err := restmapper.GetAPIGroupResources(s.Client.Discovery())
	s.must(err)
	client, err := dynamic.NewForConfig(s.Config)
	s.must(err)
	return &dryRunner{s, client, restmapper.NewDiscoveryRESTMapper(groups)}
}

func (d *dryRunner) apply(object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := d.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	force := true
	_, err = d.client.Resource(mapping.Resource).Namespace(object.GetNamespace()).Patch(d.ctx, object.GetName(),
		types.ApplyPatchType, body, metav1.PatchOptions{
			DryRun: []string{metav1.DryRunAll}, Force: &force, FieldManager: "helm", FieldValidation: metav1.FieldValidationStrict,
		})
	return err
}

// pod tries one of a Deployment.
func (d *dryRunner) pod(object *unstructured.Unstructured) error {
	var deployment apps.Deployment
	body, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(body, &deployment)
	}
	if err != nil {
		return err
	}
	template := deployment.Spec.Template
	template.Name = deployment.Name
	_, err = d.Client.CoreV1().Pods(d.id).Create(d.ctx, &v1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return err
}

// TestChartIsTaken: every object of every rendering passes the API server's validation, with no field
// that it does not know, and the pods pass Pod Security at its strictest.
func TestChartIsTaken(t *testing.T) {
	s := newStage(t)
	restricted := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	_, err := s.Client.CoreV1().Namespaces().Patch(s.ctx, s.id, types.MergePatchType, restricted, metav1.PatchOptions{})
	s.must(err)
	files, err := filepath.Glob(filepath.Join(valuesFolder, "*.yaml"))
	s.must(err)
	if len(files) < 25 {
		t.Fatalf("%d files of values", len(files))
	}
	d := s.dryRunner()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := s.helm("template", "evenkeel", chartFolder, "--values", file, "--kube-version", "1.36.0")
			if err != nil {
				t.Fatal(err)
			}
			pods := 0
			for _, object := range s.documents(text) {
				if err := d.apply(object); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
				if object.GetKind() != "Deployment" {
					continue
				}
				pods++
				err := d.pod(object)
				host, _, _ := unstructured.NestedBool(object.Object, "spec", "template", "spec", "hostNetwork")
				if host != (err != nil && strings.Contains(err.Error(), "host namespaces")) || (err != nil && !host) {
					t.Errorf("a pod of %s: %v", object.GetName(), err)
				}
			}
			if pods == 0 {
				t.Error("it has no Deployment")
			}
		})
	}
}
