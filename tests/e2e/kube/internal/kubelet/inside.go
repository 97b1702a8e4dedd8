package kubelet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	securejoin "github.com/cyphar/filepath-securejoin"
	"golang.org/x/sys/unix"
)

// containerRole, as the first argument, makes a kubelet be the process that becomes a container.
const containerRole = "container"

// containerSpec says what becomes of that process, which has mount and PID namespaces of its own.
type containerSpec struct {
	Image    string // folder of the image's files
	Work     string // folder to mount a root in, which nobody else sees
	Sandbox  int    // process whose network and IPC it has
	Mounts   []mount
	ReadOnly bool // the root
	UID, GID int
	Groups   []int
	DropAll  bool // capabilities
	NoNew    bool // privileges
	Args     []string
	Env      []string
	Dir      string
	Hostname string
}

type mount struct {
	From, To string
	ReadOnly bool
}

// runContainer does what a container runtime does between fork and exec, and becomes the container's command.
// Namespaces and privileges are those of the thread, so all of it happens on one.
func runContainer(specFile string) int {
	runtime.LockOSThread()
	err := func() error {
		text, err := os.ReadFile(specFile)
		if err != nil {
			return err
		}
		var s containerSpec
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		return s.become()
	}()
	fmt.Fprintf(os.Stderr, "the container was not started: %v\n", err)
	return 128
}

func (s *containerSpec) become() error {
	for _, space := range []struct {
		name string
		flag int
	}{{"net", unix.CLONE_NEWNET}, {"ipc", unix.CLONE_NEWIPC}} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", s.Sandbox, space.name))
		if err == nil {
			err = unix.Setns(int(file.Fd()), space.flag)
		}
		if err != nil {
			return fmt.Errorf("the pod's %s namespace: %w", space.name, err)
		}
	}
	if err := unix.Sethostname([]byte(s.Hostname)); err != nil {
		return fmt.Errorf("the host's name: %w", err)
	}
	root, err := s.makeRoot()
	if err != nil {
		return err
	}
	if err := enter(root, s.ReadOnly); err != nil {
		return fmt.Errorf("the root: %w", err)
	}
	if err := s.give(); err != nil {
		return fmt.Errorf("the user's rights: %w", err)
	}
	if err := os.Chdir("/" + s.Dir); err != nil {
		return err
	}
	program, err := lookup(s.Args[0], s.Env)
	if err != nil {
		return err
	}
	return unix.Exec(program, s.Args, s.Env)
}

// makeRoot lays an empty layer over the image, and in it all that is mounted.
func (s *containerSpec) makeRoot() (string, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", err
	}
	if err := unix.Mount("tmpfs", s.Work, "tmpfs", 0, "mode=755"); err != nil {
		return "", fmt.Errorf("%s: %w", s.Work, err)
	}
	root := filepath.Join(s.Work, "root")
	for _, name := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(s.Work, name), 0o755); err != nil {
			return "", err
		}
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", s.Image, s.Work, s.Work)
	if err := unix.Mount("overlay", root, "overlay", 0, layers); err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	if err := kernelFiles(root); err != nil {
		return "", err
	}
	for _, m := range s.Mounts {
		if err := m.bind(root); err != nil {
			return "", fmt.Errorf("%s: %w", m.To, err)
		}
	}
	return root, nil
}

// kernelFiles are /proc and what little of /dev there is.
func kernelFiles(root string) error {
	dev, proc := filepath.Join(root, "dev"), filepath.Join(root, "proc")
	if err := errors.Join(os.MkdirAll(proc, 0o555), os.MkdirAll(dev, 0o755)); err != nil {
		return err
	}
	if err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return fmt.Errorf("/dev: %w", err)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		device := mount{From: "/dev/" + name, To: "/dev/" + name}
		if err := device.bind(root); err != nil {
			return fmt.Errorf("/dev/%s: %w", name, err)
		}
	}
	return nil
}

// bind mounts a file or a folder; links of the image lead nowhere outside of it.
func (m *mount) bind(root string) error {
	to, err := securejoin.SecureJoin(root, m.To)
	if err != nil {
		return err
	}
	info, err := os.Stat(m.From)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(to, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
		var file *os.File
		if file, err = os.OpenFile(to, os.O_CREATE|os.O_RDONLY, 0o644); err == nil {
			err = file.Close()
		}
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(m.From, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil || !m.ReadOnly {
		return err
	}
	return unix.Mount("", to, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
}

// enter makes it the root, and leaves the old one unreachable.
func enter(root string, readOnly bool) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	if err := unix.Chdir("/"); err != nil || !readOnly {
		return err
	}
	return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
}

// give makes it the user, with the rights that are left.
func (s *containerSpec) give() error {
	if s.DropAll {
		for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
				return err
			}
		}
	}
	if err := errors.Join(syscall.Setgroups(s.Groups), syscall.Setgid(s.GID), syscall.Setuid(s.UID)); err != nil {
		return err
	}
	if s.DropAll {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil {
			return err
		}
	}
	if s.NoNew {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	// Another user is another parent's child: what the kubelet asked for is forgotten.
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// lookup finds a program as a shell would, by the container's own PATH.
func lookup(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, variable := range env {
		path, ok := strings.CutPrefix(variable, "PATH=")
		for _, folder := range strings.Split(path, ":") {
			file := filepath.Join(folder, name)
			if info, err := os.Stat(file); ok && err == nil && info.Mode()&0o111 != 0 {
				return file, nil
			}
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
