// Package crds has OCM's CustomResourceDefinitions, as the module of its API ships them.
package crds

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"sigs.k8s.io/yaml"
)

const module = "open-cluster-management.io/api"

// Variable names the folder of the API's module; without it, the go command is asked.
const Variable = "EVENKEEL_E2E_OCM_API"

// A ClusterClaim is an object of the managed cluster, not of the hub.
const ofMember = "clusterclaims.crd.yaml"

// Read returns the definitions of the kinds that a hub has for placements.
func Read() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	dir, err := moduleDir()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "cluster", "*", "*.crd.yaml"))
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, ofMember) })
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no CustomResourceDefinitions below %s/cluster", dir)
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, definition); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, definition)
	}
	return all, nil
}

func moduleDir() (string, error) {
	if dir := os.Getenv(Variable); dir != "" {
		return dir, nil
	}
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w (%s names its folder, too)", module, err, Variable)
	}
	return strings.TrimSpace(string(output)), nil
}

// Schemas apply the defaults of the definitions, as an API server does.
type Schemas map[string]*schema.Structural // by apiVersion and kind

// ReadSchemas reads those of every served version.
func ReadSchemas() (Schemas, error) {
	definitions, err := Read()
	if err != nil {
		return nil, err
	}
	all := Schemas{}
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			var internal apiextensions.CustomResourceValidation
			if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
				version.Schema, &internal, nil); err != nil {
				return nil, fmt.Errorf("%s: %w", definition.Name, err)
			}
			structural, err := schema.NewStructural(internal.OpenAPIV3Schema)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", definition.Name, err)
			}
			all[definition.Spec.Group+"/"+version.Name+" "+definition.Spec.Names.Kind] = structural
		}
	}
	return all, nil
}

// Default fills in what an API server would have. False: there is no such kind.
func (s Schemas) Default(object map[string]any) bool {
	version, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	structural, known := s[version+" "+kind]
	if known {
		defaulting.PruneNonNullableNullsWithoutDefaults(object, structural)
		defaulting.Default(object, structural)
	}
	return known
}
