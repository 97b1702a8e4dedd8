package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// resources of OCM's kinds, as the definitions have them.
var resources = map[string]string{
	"ManagedCluster":           "managedclusters",
	"ManagedClusterSet":        "managedclustersets",
	"ManagedClusterSetBinding": "managedclustersetbindings",
	"Placement":                "placements",
	"PlacementDecision":        "placementdecisions",
	"AddOnPlacementScore":      "addonplacementscores",
}

// Kinds that say everything about Placements, for `kubectl get`.
const Kinds = "managedclusters,managedclustersets,managedclustersetbindings,placements,placementdecisions,addonplacementscores"

// Documents reads the objects of a YAML file.
func Documents(file string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if object.Object != nil {
			all = append(all, object)
		}
	}
}

// Create creates objects of OCM's kinds, with their status, and the namespaces that they are in.
func (h *Hub) Create(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := h.create(ctx, object); err != nil {
			return fmt.Errorf("%s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

func (h *Hub) create(ctx context.Context, object *unstructured.Unstructured) error {
	resource, known := resources[object.GetKind()]
	if !known {
		return errors.New("no kind of a hub's")
	}
	if err := h.CreateNamespace(ctx, object.GetNamespace()); err != nil {
		return err
	}
	version := object.GroupVersionKind().GroupVersion()
	client := h.objects.Resource(schema.GroupVersionResource{Group: version.Group, Version: version.Version,
		Resource: resource}).Namespace(object.GetNamespace())
	created, err := client.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	status, given := object.Object["status"]
	if !given {
		return nil
	}
	created.Object["status"] = status
	_, err = client.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// CreateNamespace makes one that may be there already, and none for "".
func (h *Hub) CreateNamespace(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	namespaces := h.Kube.CoreV1().Namespaces()
	if _, err := namespaces.Get(ctx, name, metav1.GetOptions{}); err == nil {
		return nil
	}
	_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// SaveState writes what `kubectl get` prints of everything about Placements, as YAML.
func (h *Hub) SaveState(ctx context.Context, file string) error {
	text, err := h.Kubectl(ctx, "get", Kinds, "-A", "-o", "yaml")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// Kubectl returns what it prints.
func (h *Hub) Kubectl(ctx context.Context, arguments ...string) ([]byte, error) {
	var stderr strings.Builder
	command := exec.CommandContext(ctx, h.programs.Kubectl, append([]string{"--kubeconfig", h.Kubeconfig}, arguments...)...)
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, stderr.String())
	}
	return output, nil
}
