package intree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects is a cluster as the scheduler's informers would hold it.
type Objects struct {
	Nodes []*corev1.Node
	Pods  []*corev1.Pod
	// Owners are the Services, ReplicationControllers, ReplicaSets and StatefulSets that default
	// constraints take their selectors from.
	Owners []runtime.Object
	// Namespaces are what podAffinity selects by labels.
	Namespaces []*corev1.Namespace
	// Claims, Volumes and Classes are what VolumeBinding and VolumeZone look at.
	Claims  []*corev1.PersistentVolumeClaim
	Volumes []*corev1.PersistentVolume
	Classes []*storagev1.StorageClass
}

// Read reads what `kubectl get ... -o json` prints: Lists, one or more. Kinds that topology spread
// does not look at are skipped. Items are decoded one at a time, so the peak is little more than
// what is kept.
func Read(from io.Reader) (*Objects, error) {
	objects := &Objects{}
	decoder := json.NewDecoder(from)
	for {
		err := objects.addList(decoder)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ReadFile is Read of a file.
func ReadFile(path string) (*Objects, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	objects, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("state file '%s': %w", path, err)
	}
	return objects, nil
}

// addList reads one document; io.EOF says that there is none.
func (o *Objects) addList(decoder *json.Decoder) error {
	begin, err := decoder.Token()
	if err != nil {
		return err
	}
	if begin != json.Delim('{') {
		return fmt.Errorf("expected a List, got '%v'", begin)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return unexpected(err)
		}
		if key == "items" {
			err = o.addItems(decoder)
		} else {
			err = decoder.Decode(new(json.RawMessage))
		}
		if err != nil {
			return unexpected(err)
		}
	}
	_, err = decoder.Token()
	return unexpected(err)
}

// unexpected keeps an end in the middle of a document apart from one between two of them.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (o *Objects) addItems(decoder *json.Decoder) error {
	begin, err := decoder.Token()
	if err != nil {
		return err
	}
	if begin == nil {
		return nil // null, as Go programs write an empty list
	}
	if begin != json.Delim('[') {
		return fmt.Errorf("expected an array of items, got '%v'", begin)
	}
	for decoder.More() {
		var item json.RawMessage
		if err := decoder.Decode(&item); err != nil {
			return err
		}
		if err := o.add(item); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

func (o *Objects) add(item []byte) error {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(item, &kind); err != nil {
		return err
	}
	switch kind.Kind {
	case "Node":
		return addTo(&o.Nodes, item)
	case "Pod":
		if err := addTo(&o.Pods, item); err != nil {
			return err
		}
		o.Pods[len(o.Pods)-1].ManagedFields = nil // as the scheduler's informer drops them
		return nil
	case "Namespace":
		return addTo(&o.Namespaces, item)
	case "PersistentVolumeClaim":
		return addTo(&o.Claims, item)
	case "PersistentVolume":
		return addTo(&o.Volumes, item)
	case "StorageClass":
		return addTo(&o.Classes, item)
	case "Service":
		return o.addOwner(&corev1.Service{}, item)
	case "ReplicationController":
		return o.addOwner(&corev1.ReplicationController{}, item)
	case "ReplicaSet":
		return o.addOwner(&appsv1.ReplicaSet{}, item)
	case "StatefulSet":
		return o.addOwner(&appsv1.StatefulSet{}, item)
	}
	return nil
}

func (o *Objects) addOwner(owner runtime.Object, item []byte) error {
	o.Owners = append(o.Owners, owner)
	return json.Unmarshal(item, owner)
}

func addTo[T any](list *[]*T, item []byte) error {
	object := new(T)
	*list = append(*list, object)
	return json.Unmarshal(item, object)
}
