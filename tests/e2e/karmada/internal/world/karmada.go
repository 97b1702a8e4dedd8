package world

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd/api"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
)

// User of a kubeconfig.
type User = api.AuthInfo

// Module names the folder of Karmada's module; without it, the go command is asked.
const Module = "EVENKEEL_E2E_KARMADA"

// Namespace is where Karmada looks for Services of estimators.
const Namespace = "karmada-system"

func moduleDir() (string, error) {
	if dir := os.Getenv(Module); dir != "" {
		return dir, nil
	}
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/karmada-io/karmada").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m github.com/karmada-io/karmada: %w (%s names its folder, too)", err, Module)
	}
	return strings.TrimSpace(string(output)), nil
}

// definitions of Karmada's kinds that its scheduler reads, as the module ships them, and those of files.
func definitions(files ...string) ([]*unstructured.Unstructured, error) {
	dir, err := moduleDir()
	if err != nil {
		return nil, err
	}
	for _, group := range []string{"work", "policy"} {
		found, err := filepath.Glob(filepath.Join(dir, "charts/karmada/_crds/bases", group, "*.yaml"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("there are no CustomResourceDefinitions of %s.karmada.io below %s: %v", group, dir, err)
		}
		files = append(files, found...)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		definition := &unstructured.Unstructured{}
		if err := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096).Decode(&definition.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, definition)
	}
	return all, nil
}

// Define creates Karmada's kinds, with those of files, and waits until they are served; then the namespace for
// Services.
func (c *ControlPlane) Define(ctx context.Context, files ...string) error {
	all, err := definitions(files...)
	if err != nil {
		return err
	}
	client := c.Objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for _, definition := range all {
		if _, err := client.Create(ctx, definition, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("%s: %w", definition.GetName(), err)
		}
	}
	for _, definition := range all {
		if err := Until(ctx, definition.GetName()+" is served", func(ctx context.Context) (bool, error) {
			now, err := client.Get(ctx, definition.GetName(), metav1.GetOptions{})
			return err == nil && established(now), err
		}); err != nil {
			return err
		}
	}
	return c.CreateNamespace(ctx, Namespace)
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}

// CreateNamespace makes one that may be there already.
func (c *ControlPlane) CreateNamespace(ctx context.Context, name string) error {
	_, err := c.Kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Join makes a Cluster that can run Deployments and that has, by its summary, so much.
func (c *ControlPlane) Join(ctx context.Context, name string, allocatable, allocated corev1.ResourceList) error {
	clusters := c.Karmada.ClusterV1alpha1().Clusters()
	made, err := clusters.Create(ctx, &clusterv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: clusterv1alpha1.ClusterSpec{SyncMode: clusterv1alpha1.Push}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status = clusterv1alpha1.ClusterStatus{
		APIEnablements: []clusterv1alpha1.APIEnablement{{GroupVersion: "apps/v1",
			Resources: []clusterv1alpha1.APIResource{{Name: "deployments", Kind: "Deployment"}}}},
		Conditions: []metav1.Condition{
			{Type: clusterv1alpha1.ClusterConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady", LastTransitionTime: metav1.Now()},
			{Type: clusterv1alpha1.ClusterConditionCompleteAPIEnablements, Status: metav1.ConditionTrue, Reason: "Complete",
				LastTransitionTime: metav1.Now()}},
		ResourceSummary: &clusterv1alpha1.ResourceSummary{Allocatable: allocatable, Allocated: allocated}}
	_, err = clusters.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// Point makes a Service by which Karmada finds the estimator of a cluster.
func (c *ControlPlane) Point(ctx context.Context, prefix, cluster, address string) error {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if host == "127.0.0.1" {
		host = "localhost" // the name of an ExternalName is that of a host
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: prefix + "-" + cluster},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host,
			Ports: []corev1.ServicePort{{Name: "grpc", Port: 10352, TargetPort: intstr.FromInt(port)}}}}
	_, err = c.Kube.CoreV1().Services(Namespace).Create(ctx, service, metav1.CreateOptions{})
	return err
}
