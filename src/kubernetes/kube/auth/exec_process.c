#include "kube/auth/exec_process.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TAIL_BYTES = 2048,  /* the end of stderr that is kept */
    LINE_BYTES = 200,   /* bytes of the last line of stderr in an error */
    TICK_MS = 20,       /* between two checks for the end, if the kernel has no pidfd */
    FIRST_FREE_FD = 3,  /* after stdin, stdout and stderr */
    READ_BYTES = 65536, /* at a time */
};

struct child {
    const char *name;
    pid_t pid;
    int out, errors, end; /* pipes and pidfd; -1: closed */
    int64_t deadline_ns;
    char tail[TAIL_BYTES]; /* a ring: the end of stderr */
    size_t tail_n;         /* bytes ever written into the ring */
};

static void close_fd(int *fd) {
    if (*fd >= 0)
        (void)close(*fd); /* nothing is lost */
    *fd = -1;
}

/* ---- starting ---- */

/* If this process was started with closed descriptors, the pipes have low numbers. That does no
 * harm: a pipe's writing end is never 0, and the writing end of the second of two pipes is never 1.
 * So no redirection in the child closes a descriptor that the next redirection needs. */
static int open_pipe(int *ret_read, int *ret_write) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return -errno;
    *ret_read = fds[0];
    *ret_write = fds[1];
    return fcntl(*ret_read, F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
}

static int describe_child(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, int out,
                          int errors) {
    sigset_t none, all;
    (void)sigemptyset(&none); /* these two cannot fail */
    (void)sigfillset(&all);
    int r = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(files, out, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(files, errors, STDERR_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(files, FIRST_FREE_FD);
    if (r == 0)
        r = posix_spawnattr_setsigmask(attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(attributes, &all);
    if (r == 0)
        r = posix_spawnattr_setpgroup(attributes, 0);
    if (r == 0)
        r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                     POSIX_SPAWN_SETPGROUP);
    return r;
}

static int spawn(struct child *c, const struct exec_command *command, int out, int errors) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int r = posix_spawn_file_actions_init(&files);
    if (r != 0)
        return -r;
    r = posix_spawnattr_init(&attributes);
    if (r == 0) {
        r = describe_child(&files, &attributes, out, errors);
        if (r == 0)
            r = posix_spawnp(&c->pid, command->argv[0], &files, &attributes, command->argv,
                             command->envp);
        (void)posix_spawnattr_destroy(&attributes); /* cannot fail */
    }
    (void)posix_spawn_file_actions_destroy(&files); /* cannot fail */
    return -r;
}

static int start(struct child *c, const struct exec_command *command, struct err *err) {
    CLEANUP(close_fd) int out = -1;
    CLEANUP(close_fd) int errors = -1;
    int r = open_pipe(&c->out, &out);
    if (r == 0)
        r = open_pipe(&c->errors, &errors);
    if (r == 0)
        r = spawn(c, command, out, errors);
    if (r != 0)
        return err_set_errno(err, -r, "cannot run '%s'", c->name);
    c->end = pidfd_open(c->pid, 0); /* -1 before Linux 5.3 and in some sandboxes: see TICK_MS */
    c->deadline_ns = clock_now_ns() + command->time_limit_ms * 1000000;
    return 0;
}

/* ---- its output ---- */

static void keep_tail(struct child *c, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        c->tail[c->tail_n++ % TAIL_BYTES] = bytes[i];
}

/* Reads all available bytes of stderr. Closes the pipe at its end. */
static void read_errors(struct child *c) {
    char bytes[4096];
    ssize_t n;
    while (c->errors >= 0 && (n = read(c->errors, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno != EINTR)
            return; /* EAGAIN: that is all for now */
        if (n > 0)
            keep_tail(c, bytes, (size_t)n);
    }
    close_fd(&c->errors);
}

/* The same for stdout. Returns -EFBIG if the bytes do not fit. */
static int read_output(struct child *c, struct strbuf *out) {
    while (c->out >= 0) {
        size_t left = out->max - out->n, want = left < READ_BYTES ? left : READ_BYTES;
        char one_more, *to = want > 0 ? strbuf_reserve(out, want) : &one_more;
        if (to == NULL)
            return -ENOMEM;
        ssize_t n = read(c->out, to, want > 0 ? want : 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return 0; /* EAGAIN: that is all for now */
        if (n == 0)
            close_fd(&c->out);
        else if (want == 0)
            return -EFBIG;
        else
            out->n += (size_t)n;
    }
    return 0;
}

/* Writes ": <last line of stderr>", without control characters; "" if there is no such line. */
static void last_line(const struct child *c, char *ret, size_t size) {
    char straight[TAIL_BYTES];
    size_t kept = c->tail_n < TAIL_BYTES ? c->tail_n : TAIL_BYTES;
    for (size_t i = 0; i < kept; i++)
        straight[i] = c->tail[(c->tail_n - kept + i) % TAIL_BYTES];
    struct str text = str_trim((struct str){straight, kept});
    const char *newline = memrchr(text.p, '\n', text.n);
    if (newline != NULL)
        text = (struct str){newline + 1, text.n - (size_t)(newline + 1 - text.p)};
    (void)snprintf(ret, size, "%s%.*s", text.n > 0 ? ": " : "", (int)text.n,
                   text.p); /* cut: for people */
    for (char *p = ret; *p != '\0'; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
}

/* ---- waiting ---- */

static bool has_ended(const struct child *c) {
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static int wait_ms(const struct child *c) {
    int64_t left_ms = (c->deadline_ns - clock_now_ns() + 999999) / 1000000;
    if (c->end < 0 && left_ms > TICK_MS)
        left_ms = TICK_MS;
    return left_ms < 0 ? 0 : left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
}

/* Waits. Returns 0 when the program ends by itself, or the reason why it must be killed. */
static int collect(struct child *c, int stop_fd, struct strbuf *out) {
    for (;;) {
        struct pollfd fds[] = {
            {stop_fd, POLLIN, 0}, {c->out, POLLIN, 0}, {c->errors, POLLIN, 0}, {c->end, POLLIN, 0}};
        (void)poll(fds, sizeof fds / sizeof fds[0],
                   wait_ms(c)); /* after EINTR everything is checked, too */
        if (fds[0].revents != 0)
            return -ECANCELED;
        bool ended = has_ended(c); /* check this before the pipes are read for the last time */
        int r = read_output(c, out);
        read_errors(c);
        if (r != 0 || ended)
            return r;
        if (clock_now_ns() >= c->deadline_ns)
            return -ETIMEDOUT;
    }
}

/* Returns the child's status as waitpid() does; -errno if it is not known. */
static int reap(const struct child *c) {
    int status;
    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return status;
}

static int explain(const struct child *c, int why, int status, const struct exec_command *command,
                   const struct strbuf *out, struct err *err) {
    char said[LINE_BYTES + 8];
    last_line(c, said, sizeof said);
    if (why == -ECANCELED)
        return err_set(err, why, "'%s' was stopped", c->name);
    if (why == -EFBIG)
        return err_set(err, why, "'%s' was killed: it printed more than %zu bytes", c->name,
                       out->max);
    if (why == -ETIMEDOUT)
        return err_set(err, why, "'%s' was killed: it had not ended after %lld ms%s", c->name,
                       (long long)command->time_limit_ms, said);
    if (why != 0)
        return err_set_errno(err, -why, "cannot read what '%s' prints", c->name);
    if (status < 0)
        return err_set_errno(err, -status, "nobody knows how '%s' ended", c->name);
    if (WIFSIGNALED(status))
        return err_set(err, -EPROTO, "'%s' was killed by signal %d%s", c->name, WTERMSIG(status),
                       said);
    return status == 0 ? 0
                       : err_set(err, -EPROTO, "'%s' ended with status %d%s", c->name,
                                 WEXITSTATUS(status), said);
}

/* Kills the process group. The child is not reaped yet, so no other process can have its number.
 * Under an emulator this may run before the child has made its group: then only the child is
 * killed. */
static void end_group(const struct child *c) {
    if (kill(-c->pid, SIGKILL) != 0)
        (void)kill(c->pid, SIGKILL);
}

int exec_run(const struct exec_command *command, struct strbuf *out, struct err *err) {
    struct child c = {.name = command->argv[0], .out = -1, .errors = -1, .end = -1};
    int r = start(&c, command, err);
    if (r == 0) {
        int why = collect(&c, command->stop_fd, out);
        if (why != 0)
            end_group(&c);
        r = explain(&c, why, reap(&c), command, out, err);
    }
    close_fd(&c.out);
    close_fd(&c.errors);
    close_fd(&c.end);
    return r;
}
