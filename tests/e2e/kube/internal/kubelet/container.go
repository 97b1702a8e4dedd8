package kubelet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
)

// container is one run of a container's command.
type container struct {
	*v1.Container
	image   *image
	uid     int
	gid     int
	env     []string
	cmd     *exec.Cmd
	log     string // file with what it prints
	started time.Time
	ended   time.Time
	exited  chan struct{} // closed when it has ended; code is set before
	code    int
	signal  syscall.Signal
}

// holdThread starts a command and waits for it on a thread that nobody else gets: a parent's death, of which
// the kernel tells the child, is that of the thread.
func holdThread(cmd *exec.Cmd, started chan<- error, ended func(error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		ended(cmd.Wait())
	}
}

// user of a container: its own, the pod's, the image's.
func user(pod *v1.Pod, c *v1.Container, made *image) (uid, gid int, err error) {
	name, group, _ := strings.Cut(made.Config.User, ":")
	uid, uidErr := strconv.Atoi(name)
	gid, _ = strconv.Atoi(group) // none is group 0
	own, all := c.SecurityContext, pod.Spec.SecurityContext
	nonRoot := false
	if all != nil {
		if all.RunAsUser != nil {
			uid, uidErr = int(*all.RunAsUser), nil
		}
		if all.RunAsGroup != nil {
			gid = int(*all.RunAsGroup)
		}
		nonRoot = all.RunAsNonRoot != nil && *all.RunAsNonRoot
	}
	if own != nil {
		if own.RunAsUser != nil {
			uid, uidErr = int(*own.RunAsUser), nil
		}
		if own.RunAsGroup != nil {
			gid = int(*own.RunAsGroup)
		}
		if own.RunAsNonRoot != nil {
			nonRoot = *own.RunAsNonRoot
		}
	}
	if uidErr != nil && made.Config.User != "" {
		return 0, 0, fmt.Errorf("the image's user %q is no number", made.Config.User)
	}
	if nonRoot && uid == 0 {
		return 0, 0, errors.New("container has runAsNonRoot and image will run as root")
	}
	return uid, gid, nil
}

// spec is what becomes of the process.
func (p *podRunner) spec(c *container) (*containerSpec, error) {
	s := &containerSpec{
		Image: c.image.root, Work: filepath.Join(p.dir, "root-"+c.Name), Sandbox: p.sandbox.holder.Process.Pid,
		UID: c.uid, GID: c.gid, Groups: []int{c.gid}, Env: c.env, Dir: c.image.Config.WorkingDir, Hostname: p.pod().Name,
	}
	if group := p.volumes.group(); group != nil {
		s.Groups = append(s.Groups, int(*group))
	}
	if own := c.SecurityContext; own != nil {
		s.ReadOnly = own.ReadOnlyRootFilesystem != nil && *own.ReadOnlyRootFilesystem
		s.NoNew = own.AllowPrivilegeEscalation != nil && !*own.AllowPrivilegeEscalation
		s.DropAll = own.Capabilities != nil && slices.Contains(own.Capabilities.Drop, "ALL")
	}
	s.Args = append(slices.Clone(c.image.Config.Entrypoint), c.image.Config.Cmd...)
	if len(c.Command) > 0 {
		s.Args = append(slices.Clone(c.Command), c.Args...)
	} else if len(c.Args) > 0 {
		s.Args = append(slices.Clone(c.image.Config.Entrypoint), c.Args...)
	}
	if len(s.Args) == 0 {
		return nil, errors.New("neither the container nor its image has a command")
	}
	for _, m := range c.VolumeMounts {
		from, err := filepath.EvalSymlinks(filepath.Join(p.volumes.path(m.Name), m.SubPath))
		if err != nil {
			return nil, err
		}
		s.Mounts = append(s.Mounts, mount{From: from, To: m.MountPath, ReadOnly: m.ReadOnly})
	}
	for _, name := range []string{"hosts", "resolv.conf", "hostname"} {
		s.Mounts = append(s.Mounts, mount{From: filepath.Join(p.dir, name), To: "/etc/" + name})
	}
	return s, os.MkdirAll(s.Work, 0o700)
}

// environment of a container: the image's, where the API server is, and its own.
func (p *podRunner) environment(c *v1.Container, made *image) ([]string, error) {
	env := slices.Clone(made.Config.Env)
	if !slices.ContainsFunc(env, func(one string) bool { return strings.HasPrefix(one, "PATH=") }) {
		env = append(env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	env = append(env, p.apiServer...)
	env = append(env, "HOSTNAME="+p.pod().Name)
	for _, one := range c.Env {
		if one.ValueFrom != nil {
			return nil, fmt.Errorf("$%s is of a source that this kubelet does not know", one.Name)
		}
		env = append(env, one.Name+"="+one.Value)
	}
	return env, nil
}

// start runs the container's command.
func (p *podRunner) start(c *container, restarts int) error {
	s, err := p.spec(c)
	if err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, c.Name+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.log = filepath.Join(p.dir, fmt.Sprintf("%s-%d.log", c.Name, restarts))
	output, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer output.Close()
	c.cmd = exec.Command(self, containerRole, file)
	c.cmd.Stdout, c.cmd.Stderr = output, output
	c.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL, Setsid: true,
	}
	c.exited = make(chan struct{})
	started := make(chan error)
	go holdThread(c.cmd, started, func(error) {
		status := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
		c.code, c.ended = status.ExitStatus(), time.Now()
		if status.Signaled() {
			c.code, c.signal = 128+int(status.Signal()), status.Signal()
		}
		close(c.exited)
	})
	c.started = time.Now()
	if err := <-started; err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.dir, c.Name+".pid"), []byte(strconv.Itoa(c.cmd.Process.Pid)), 0o644); err != nil {
		c.stop(0)
		return err
	}
	return nil
}

func (c *container) running() bool {
	if c.exited == nil {
		return false
	}
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// stop is SIGTERM, and SIGKILL when the time is over.
func (c *container) stop(grace time.Duration) {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails only if it is gone
	select {
	case <-c.exited:
		return
	case <-time.After(grace):
	}
	_ = c.cmd.Process.Kill()
	<-c.exited
}

// exec is a command that runs in the container as its user.
func (c *container) exec(command []string) *exec.Cmd {
	arguments := []string{"--target", strconv.Itoa(c.cmd.Process.Pid), "--mount", "--net", "--pid", "--ipc", "--uts",
		"--root", "--wd", "--setgid", strconv.Itoa(c.gid), "--setuid", strconv.Itoa(c.uid), "--"}
	cmd := exec.Command("nsenter", append(arguments, command...)...)
	cmd.Env = c.env
	return cmd
}
