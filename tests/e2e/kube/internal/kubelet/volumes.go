package kubelet

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/secret"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
)

// volumes are a pod's, as folders below `dir`. What is in them, and how it is replaced at once when it changes,
// is by the kubelet's own code.
type volumes struct {
	*kubelet
	pod    *v1.Pod
	dir    string
	tokens map[string]boundToken // by volume and path
}

type boundToken struct {
	text    string
	renewAt time.Time
}

type files = map[string]volumeutil.FileProjection

func (v *volumes) path(name string) string { return filepath.Join(v.dir, name) }

// fill writes all volumes, or writes anew what has changed since.
func (v *volumes) fill(ctx context.Context) error {
	for _, volume := range v.pod.Spec.Volumes {
		if err := v.fillOne(ctx, volume); err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
	}
	return nil
}

func (v *volumes) fillOne(ctx context.Context, volume v1.Volume) error {
	folder := v.path(volume.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if volume.EmptyDir != nil {
		if err := os.Chmod(folder, 0o777); err != nil {
			return err
		}
		return v.own(folder)
	}
	content, err := v.content(ctx, volume)
	if err != nil {
		return err
	}
	writer, err := volumeutil.NewAtomicWriter(folder, v.pod.Name)
	if err != nil {
		return err
	}
	return writer.Write(content, func(string) error { return v.own(folder) })
}

func (v *volumes) content(ctx context.Context, volume v1.Volume) (files, error) {
	switch {
	case volume.ConfigMap != nil:
		s := volume.ConfigMap
		return v.configMap(ctx, s.Name, s.Items, s.DefaultMode, s.Optional)
	case volume.Secret != nil:
		s := volume.Secret
		return v.secret(ctx, s.SecretName, s.Items, s.DefaultMode, s.Optional)
	case volume.DownwardAPI != nil:
		return downwardapi.CollectData(volume.DownwardAPI.Items, v.pod, nil, volume.DownwardAPI.DefaultMode)
	case volume.Projected != nil:
		return v.projected(ctx, volume.Name, volume.Projected)
	}
	return nil, fmt.Errorf("a volume of a kind that this kubelet does not know: %+v", volume.VolumeSource)
}

func (v *volumes) projected(ctx context.Context, name string, projected *v1.ProjectedVolumeSource) (files, error) {
	all := files{}
	for _, source := range projected.Sources {
		var content files
		var err error
		switch mode := projected.DefaultMode; {
		case source.ConfigMap != nil:
			s := source.ConfigMap
			content, err = v.configMap(ctx, s.Name, s.Items, mode, s.Optional)
		case source.Secret != nil:
			s := source.Secret
			content, err = v.secret(ctx, s.Name, s.Items, mode, s.Optional)
		case source.DownwardAPI != nil:
			content, err = downwardapi.CollectData(source.DownwardAPI.Items, v.pod, nil, mode)
		case source.ServiceAccountToken != nil:
			content, err = v.token(ctx, name, source.ServiceAccountToken, *mode)
		default:
			err = fmt.Errorf("a source of a kind that this kubelet does not know: %+v", source)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, content)
	}
	return all, nil
}

func absent(err error, optional *bool) bool {
	return apierrors.IsNotFound(err) && optional != nil && *optional
}

func (v *volumes) configMap(ctx context.Context, name string, items []v1.KeyToPath, mode *int32, optional *bool) (files, error) {
	object, err := v.client.CoreV1().ConfigMaps(v.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if absent(err, optional) {
		return files{}, nil
	}
	if err != nil {
		return nil, err
	}
	return configmap.MakePayload(items, object, mode, optional != nil && *optional)
}

func (v *volumes) secret(ctx context.Context, name string, items []v1.KeyToPath, mode *int32, optional *bool) (files, error) {
	object, err := v.client.CoreV1().Secrets(v.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if absent(err, optional) {
		return files{}, nil
	}
	if err != nil {
		return nil, err
	}
	return secret.MakePayload(items, object, mode, optional != nil && *optional)
}

// token is one of the pod's account that is bound to the pod. It is renewed when four fifths of its time are over.
// The mode is that of pkg/volume/projected: who has a user or a group of its own is the only one to read it.
func (v *volumes) token(ctx context.Context, volume string, s *v1.ServiceAccountTokenProjection, mode int32) (files, error) {
	key := volume + "/" + s.Path
	if have := v.tokens[key]; time.Now().After(have.renewAt) {
		request := &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{
			ExpirationSeconds: s.ExpirationSeconds,
			BoundObjectRef:    &authentication.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: v.pod.Name, UID: v.pod.UID},
		}}
		if s.Audience != "" {
			request.Spec.Audiences = []string{s.Audience}
		}
		made, err := v.client.CoreV1().ServiceAccounts(v.pod.Namespace).
			CreateToken(ctx, v.pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		life := time.Until(made.Status.ExpirationTimestamp.Time)
		v.tokens[key] = boundToken{made.Status.Token, time.Now().Add(life * 4 / 5)}
	}
	user := volumeutil.FsUserFrom(v.pod)
	if user != nil || v.group() != nil {
		mode = 0o600
	}
	return files{s.Path: {Data: []byte(v.tokens[key].text), Mode: mode, FsUser: user}}, nil
}

func (v *volumes) group() *int64 {
	if v.pod.Spec.SecurityContext == nil {
		return nil
	}
	return v.pod.Spec.SecurityContext.FSGroup
}

// own gives a volume to the pod's fsGroup, which may read what is in it, as pkg/volume does: an emptyDir's may
// write, too.
func (v *volumes) own(folder string) error {
	group := v.group()
	if group == nil {
		return nil
	}
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := os.Lchown(path, -1, int(*group)); err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o440
		if entry.IsDir() {
			mode |= 0o110 | fs.ModeSetgid
		}
		return os.Chmod(path, mode)
	})
}
