package kubelet

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"evenkeel.io/tests/e2e/kube/internal/pki"
)

// images pulls images from registries over HTTPS, checks every digest, and unpacks each image once. Safe for
// concurrent use.
type images struct {
	dir    string
	client *http.Client
	mu     sync.Mutex
	known  map[string]*image // by digest of the manifest
}

// image is one that is unpacked.
type image struct {
	digest string
	root   string // folder; read-only by agreement
	Config struct {
		User       string
		Env        []string
		Entrypoint []string
		Cmd        []string
		WorkingDir string
	} `json:"config"`
}

type descriptor struct {
	MediaType string
	Digest    string
	Platform  struct{ Architecture, OS string }
}

type manifest struct {
	Config    descriptor
	Layers    []descriptor
	Manifests []descriptor // of an index
}

const manifestTypes = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, " +
	"application/vnd.docker.distribution.manifest.v2+json"

func newImages(dir, caFile string) (*images, error) {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs = pki.Pool(ca)
	return &images{dir: dir, client: &http.Client{Transport: transport}, known: map[string]*image{}}, os.MkdirAll(dir, 0o755)
}

// repository is where a reference points: registry/name, and a tag or a digest.
type repository struct{ host, name, version string }

func parseReference(text string) (repository, error) {
	host, rest, ok := strings.Cut(text, "/")
	if !ok || !strings.ContainsAny(host, ".:") {
		return repository{}, fmt.Errorf("the image %q names no registry", text)
	}
	name, digest, _ := strings.Cut(rest, "@")
	name, tag, _ := strings.Cut(name, ":")
	version := digest
	if version == "" {
		version = tag
	}
	if version == "" {
		version = "latest"
	}
	return repository{host, name, version}, nil
}

// pull returns the image that a container names, from the registry or as it was unpacked before.
func (s *images) pull(ctx context.Context, reference string) (*image, error) {
	from, err := parseReference(reference)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.known[from.version]; have != nil {
		return have, nil
	}
	m, digest, err := s.manifest(ctx, from)
	if err != nil {
		return nil, err
	}
	if have := s.known[digest]; have != nil {
		return have, nil
	}
	made, err := s.unpack(ctx, from, m, digest)
	if err != nil {
		return nil, fmt.Errorf("the image %s: %w", reference, err)
	}
	s.known[digest] = made
	return made, nil
}

// manifest of an image for this machine, and its digest.
func (s *images) manifest(ctx context.Context, from repository) (m manifest, digest string, err error) {
	for {
		text, err := s.get(ctx, from, "manifests", from.version)
		if err != nil {
			return m, "", err
		}
		m = manifest{}
		if err := json.Unmarshal(text, &m); err != nil {
			return m, "", err
		}
		if m.Config.Digest != "" {
			return m, digestOf(text), nil
		}
		var next string
		for _, one := range m.Manifests {
			if one.Platform.OS == runtime.GOOS && one.Platform.Architecture == runtime.GOARCH {
				next = one.Digest
			}
		}
		if next == "" || next == from.version {
			return m, "", fmt.Errorf("%s has nothing for %s", from.name, runtime.GOARCH)
		}
		from.version = next
	}
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// get reads a manifest or a blob whole, and checks what was asked for by digest.
func (s *images) get(ctx context.Context, from repository, kind, version string) ([]byte, error) {
	url := fmt.Sprintf("https://%s/v2/%s/%s/%s", from.host, from.name, kind, version)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", manifestTypes)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	if strings.HasPrefix(version, "sha256:") && digestOf(text) != version {
		return nil, fmt.Errorf("%s has the digest %s", url, digestOf(text))
	}
	return text, nil
}

func (s *images) unpack(ctx context.Context, from repository, m manifest, digest string) (*image, error) {
	made := &image{digest: digest, root: filepath.Join(s.dir, strings.TrimPrefix(digest, "sha256:"))}
	text, err := s.get(ctx, from, "blobs", m.Config.Digest)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, made); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(made.root, 0o755); err != nil {
		return nil, err
	}
	for _, layer := range m.Layers {
		text, err := s.get(ctx, from, "blobs", layer.Digest)
		if err != nil {
			return nil, err
		}
		if err := unpackLayer(made.root, text); err != nil {
			return nil, fmt.Errorf("layer %s: %w", layer.Digest, err)
		}
	}
	return made, nil
}

func unpackLayer(folder string, text []byte) error {
	unzipped, err := gzip.NewReader(strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackFile(root, header, archive)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

func unpackFile(root *os.Root, header *tar.Header, content io.Reader) error {
	name := strings.Trim(filepath.Clean("/"+header.Name), "/")
	if name == "" {
		name = "."
	}
	mode := os.FileMode(header.Mode).Perm()
	switch header.Typeflag {
	case tar.TypeDir:
		if err := root.MkdirAll(name, 0o755); err != nil {
			return err
		}
		return root.Chmod(name, mode)
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		if strings.HasPrefix(filepath.Base(name), ".wh.") {
			return errors.New("layers that remove files are not for this kubelet")
		}
		file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Chmod(mode), file.Chown(header.Uid, header.Gid), file.Close())
	}
	return fmt.Errorf("a file of type %q", header.Typeflag)
}
