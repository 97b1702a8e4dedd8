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
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
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

// kind as the definitions have it.
type kind struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

// Schemas default and validate, as an API server does.
type Schemas map[string]kind // by apiVersion and kind

// ReadSchemas reads those of every served version.
func ReadSchemas() (Schemas, error) {
	definitions, err := Read()
	if err != nil {
		return nil, err
	}
	all := Schemas{}
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			kind, err := newKind(version.Schema)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", definition.Name, err)
			}
			all[definition.Spec.Group+"/"+version.Name+" "+definition.Spec.Names.Kind] = kind
		}
	}
	return all, nil
}

func newKind(given *apiextensionsv1.CustomResourceValidation) (k kind, err error) {
	var internal apiextensions.CustomResourceValidation
	if err = apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
		given, &internal, nil); err != nil {
		return k, err
	}
	if k.structural, err = schema.NewStructural(internal.OpenAPIV3Schema); err != nil {
		return k, err
	}
	k.validator, _, err = validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	return k, err
}

func (s Schemas) of(object map[string]any) (kind, bool) {
	version, _ := object["apiVersion"].(string)
	name, _ := object["kind"].(string)
	kind, known := s[version+" "+name]
	return kind, known
}

// Default fills in what an API server would have. False: there is no such kind.
func (s Schemas) Default(object map[string]any) bool {
	kind, known := s.of(object)
	if known {
		defaulting.PruneNonNullableNullsWithoutDefaults(object, kind.structural)
		defaulting.Default(object, kind.structural)
	}
	return known
}

// Validate says why an API server would refuse an object that has its defaults; nil: it would not, or
// there is no such kind.
func (s Schemas) Validate(object map[string]any) error {
	kind, known := s.of(object)
	if !known {
		return nil
	}
	return validation.ValidateCustomResource(nil, object, kind.validator).ToAggregate()
}

// Enums are the paths of members that have a list of words, but those of conditions, by kind:
// "Placement spec.tolerations[].effect".
func (s Schemas) Enums() []string {
	var paths []string
	for name, kind := range s {
		_, object, _ := strings.Cut(name, " ")
		paths = append(paths, enums(object+" ", kind.structural)...)
	}
	slices.Sort(paths)
	return paths
}

func enums(path string, s *schema.Structural) []string {
	var paths []string
	if s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0 {
		paths = append(paths, path)
	}
	if s.Items != nil {
		paths = append(paths, enums(path+"[]", s.Items)...)
	}
	for name, member := range s.Properties {
		if name != "conditions" {
			paths = append(paths, enums(strings.ReplaceAll(path+"."+name, " .", " "), &member)...)
		}
	}
	return paths
}
