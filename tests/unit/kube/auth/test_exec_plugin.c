/* Credential plugins: shell scripts in a folder of the test's, run for real; time is the test's. */
#include "kube/auth/exec_plugin.h"

#include "base/timestamp.h"
#include "kube/auth/exec_credential.h"
#include "kube/auth/exec_process.h"
#include "kube/auth/exec_start.h"
#include "unit/certs/issued.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#define V1 "client.authentication.k8s.io/v1"
#define ANSWER(status)                                                                             \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":" status "}"

enum { LONG_MS = 60000, MAX_BYTES = 100000 };

struct fixture {
    const char *folder;
    struct clock_fake clock;
    struct kube_access access;
    char command[256];
    struct str ca; /* what the plugin is told to trust */
    struct exec_plugin *plugin;
    struct exec_answer answer;
    struct err err;
    sem_t woken;
};

static int setup(void **state) {
    static struct fixture f;
    void *folder;
    if (make_folder(&folder) != 0 || sem_init(&f.woken, 0, 0) != 0)
        return -1;
    f.folder = folder;
    f.plugin = NULL;
    f.ca = STR("the ca");
    f.err = (struct err){0};
    clock_fake_init(&f.clock, 1000000);
    (void)snprintf(f.command, sizeof f.command, "%s/plugin", f.folder); /* fits */
    f.access = (struct kube_access){.server = "https://h",
                                    .exec = {.command = f.command, .api_version = V1}};
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    void *folder = (void *)(uintptr_t)f->folder;
    exec_plugin_free(f->plugin);
    f->plugin = NULL;
    return remove_folder(&folder) != 0 || sem_destroy(&f->woken) != 0;
}

/* A script of this text; it finds its folder in $D. */
static void put_script(struct fixture *f, const char *name, const char *text) {
    struct strbuf script = {0};
    strbuf_appendf(&script, "#!/bin/sh\nD='%s'\n%s\n", f->folder, text);
    put_file(in(f->folder, name), strbuf_str(&script), 0700);
    strbuf_done(&script);
}

/* ---- the process ---- */

struct process {
    const char *argv[4];
    int64_t time_limit_ms;
    size_t max;
    int stop_fd;
};

/* Runs it; *ret_out, if asked for, is what it printed, NUL-terminated and the caller's. */
static int run(struct fixture *f, const struct process *p, char **ret_out) {
    char *argv[4] = {0}, *envp[] = {strdup("PATH=/usr/bin:/bin"), NULL};
    struct strbuf out = {.max = p->max != 0 ? p->max : MAX_BYTES};
    for (int i = 0; i < 3 && p->argv[i] != NULL; i++)
        argv[i] = strdup(p->argv[i]);
    const struct exec_command command = {.argv = argv,
                                         .envp = envp,
                                         .time_limit_ms =
                                             p->time_limit_ms != 0 ? p->time_limit_ms : LONG_MS,
                                         .stop_fd = p->stop_fd != 0 ? p->stop_fd : -1};
    f->err = (struct err){0};
    int r = exec_run(&command, &out, &f->err);
    assert_int_equal(f->err.code, r);
    assert_true(out.n <= out.max);
    if (ret_out != NULL) {
        *ret_out = calloc(1, out.n + 1);
        assert_non_null(*ret_out);
        memcpy(*ret_out, out.p != NULL ? out.p : "", out.n);
    }
    for (int i = 0; i < 3; i++)
        free(argv[i]);
    free(envp[0]);
    strbuf_done(&out);
    return r;
}

/* A script that must end well; what it prints must be this. */
static void check_output(struct fixture *f, const char *text, const char *want) {
    char *out = NULL;
    put_script(f, "plugin", text);
    check_ok(run(f, &(struct process){.argv = {f->command, "a b; $(exit 1)", "'\""}}, &out),
             &f->err);
    assert_string_equal(out, want);
    free(out);
}

static void test_process_is_bare(void **state) {
    struct fixture *f = *state;
    sigset_t usr1, before;
    char *out = NULL;
    assert_int_equal(dup2(STDERR_FILENO, 100), 100); /* stays open over exec */
    assert_int_equal(sigemptyset(&usr1), 0);
    assert_int_equal(sigaddset(&usr1, SIGUSR1), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &usr1, &before), 0);
    void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN);

    check_output(f, "printf '%s|' \"$@\"", "a b; $(exit 1)|'\"|"); /* no shell looks at them */
    check_output(f, "cat; echo end", "end\n");                     /* stdin is empty */
    check_output(f, "ls -l /proc/self/fd | grep -c ' [0-9]* ->'", "4\n"); /* 3 is ls's own */
    check_output(f, "test -e /proc/self/fd/100 || echo closed", "closed\n");
    check_output(f, "read -r a b c d pgrp e </proc/$$/stat; [ $pgrp = $$ ] && echo own", "own\n");
    check_output(f, "env | grep -v -e PWD -e '^_='", "PATH=/usr/bin:/bin\n");

    /* signals, without a shell between; glibc ignores those above 31 that it keeps for itself */
    check_ok(run(f, &(struct process){.argv = {"grep", "^Sig", "/proc/self/status"}}, &out),
             &f->err);
    assert_contains(out, "SigBlk:\t0000000000000000\n");
    assert_int_equal(strncmp(strstr(out, "SigIgn:") + 16 + 1, "0000000", 7), 0);
    free(out);

    (void)signal(SIGPIPE, pipe_before);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(close(100), 0);
}

/* Started with closed descriptors, our own pipes get the numbers of the child's. */
static void test_process_without_stdio(void **state) {
    struct fixture *f = *state;
    int saved[3], r;
    char *out = NULL;
    put_script(f, "plugin", "echo out; echo err >&2; cat");
    for (int fd = 0; fd < 3; fd++)
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 50);
    for (int fd = 0; fd < 3; fd++)
        (void)close(fd);
    r = run(f, &(struct process){.argv = {f->command}}, &out);
    for (int fd = 0; fd < 3; fd++)
        assert_int_equal(dup2(saved[fd], fd), fd);
    for (int fd = 0; fd < 3; fd++)
        assert_int_equal(close(saved[fd]), 0);
    check_ok(r, &f->err);
    assert_string_equal(out, "out\n");
    free(out);
}

static void check_failure(struct fixture *f, const char *text, int code, const char *words) {
    put_script(f, "plugin", text);
    assert_int_equal(run(f, &(struct process){.argv = {f->command}}, NULL), code);
    assert_contains(f->err.text, words);
    assert_contains(f->err.text, f->command);
}

/* Does posix_spawn() hear of an exec that fails? Not where vfork is run as fork, as valgrind does:
 * there the child just ends with status 127. */
static bool spawn_tells(void) {
    char name[] = "/evenkeel-no-such-plugin", *argv[] = {name, NULL};
    pid_t pid;
    int r = posix_spawn(&pid, name, NULL, NULL, argv, environ);
    if (r == 0)
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    return r != 0;
}

static void test_process_fails(void **state) {
    struct fixture *f = *state;
    check_failure(f, "exit 3", -EPROTO, "ended with status 3");
    assert_null(strstr(f->err.text, "status 3:"));
    check_failure(f, "echo first >&2; printf 'no \\033[1mlogin\\n\\n' >&2; exit 1", -EPROTO,
                  "ended with status 1: no ?[1mlogin");
    assert_null(strstr(f->err.text, "first"));
    check_failure(f, "i=0; while [ $i -lt 5000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1",
                  -EPROTO, ": line 4999");
    check_failure(f, "printf %5000s end >&2; exit 1", -EPROTO, "status 1:");
    check_failure(f, "kill -9 $$", -EPROTO, "was killed by signal 9");
}

static void test_process_cannot_start(void **state) {
    struct fixture *f = *state;
    if (!spawn_tells())
        skip();
    assert_int_equal(run(f, &(struct process){.argv = {"evenkeel-no-such-plugin"}}, NULL), -ENOENT);
    assert_contains(f->err.text, "cannot run 'evenkeel-no-such-plugin': No such file");
    put_file(f->command, STR("#!/bin/sh\n"), 0600);
    assert_int_equal(run(f, &(struct process){.argv = {f->command}}, NULL), -EACCES);
    put_file(f->command, STR("echo no shell for this"), 0700);
    assert_int_equal(run(f, &(struct process){.argv = {f->command}}, NULL), -ENOEXEC);
}

static void test_process_prints_too_much(void **state) {
    struct fixture *f = *state;
    char *out = NULL;
    put_script(f, "plugin", "exec yes");
    assert_int_equal(run(f, &(struct process){.argv = {f->command}, .max = 10000}, &out), -EFBIG);
    assert_contains(f->err.text, "more than 10000 bytes");
    assert_int_equal(strlen(out), 10000);
    free(out);
    put_script(f, "plugin", "printf %010000d 0"); /* as much as is allowed */
    check_ok(run(f, &(struct process){.argv = {f->command}, .max = 10000}, NULL), &f->err);
    put_script(f, "plugin", "printf %010001d 0");
    assert_int_equal(run(f, &(struct process){.argv = {f->command}, .max = 10000}, NULL), -EFBIG);
}

/* Is the other end of this pipe closed, within 10 s? */
static bool hung_up(int fd) {
    struct pollfd p = {fd, 0, 0};
    return poll(&p, 1, 10000) == 1 && (p.revents & POLLHUP) != 0;
}

/* Runs what hangs, with longer and longer limits, until it got as far as to say something: on
 * stderr, or to this pipe. */
static void run_until(struct fixture *f, struct process *p, int pipe) {
    struct pollfd said = {pipe, POLLIN, 0};
    char words[64];
    bool heard = false;
    for (p->time_limit_ms = 100; !heard && p->time_limit_ms < 100000; p->time_limit_ms *= 2) {
        assert_int_equal(run(f, p, NULL), -ETIMEDOUT);
        (void)snprintf(words, sizeof words, "had not ended after %d ms%s", (int)p->time_limit_ms,
                       pipe < 0 ? ": waiting" : ""); /* fits */
        heard = pipe >= 0 ? poll(&said, 1, 0) == 1 : strstr(f->err.text, words) != NULL;
    }
    assert_true(heard);
    p->time_limit_ms = 100;
}

static void test_process_hangs(void **state) {
    struct fixture *f = *state;
    struct process p = {.argv = {f->command}};
    put_script(f, "plugin", "echo waiting >&2; exec sleep 1000");
    run_until(f, &p, -1);
    put_script(f, "plugin", "exec sleep 1000 >&- 2>&-"); /* the pipes say nothing any more */
    assert_int_equal(run(f, &p, NULL), -ETIMEDOUT);

    /* with all that it has started: they hold the pipe open as long as they live */
    assert_int_equal(mkfifo(in(f->folder, "fifo"), 0600), 0);
    int fifo = open(in(f->folder, "fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fifo >= 0);
    put_script(f, "plugin", "exec 3>$D/fifo; echo x >&3; sleep 1000 & sleep 1000");
    run_until(f, &p, fifo);
    assert_true(hung_up(fifo));
    assert_int_equal(close(fifo), 0);
}

static void test_process_is_stopped(void **state) {
    struct fixture *f = *state;
    int stop = eventfd(1, EFD_CLOEXEC); /* readable already */
    put_script(f, "plugin", "exec sleep 1000");
    assert_int_equal(run(f, &(struct process){.argv = {f->command}, .stop_fd = stop}, NULL),
                     -ECANCELED);
    assert_contains(f->err.text, "was stopped");
    assert_int_equal(close(stop), 0);
}

/* What a plugin leaves behind, with our pipes in its hands, does not keep us. */
static void test_process_leaves_another(void **state) {
    struct fixture *f = *state;
    char *out = NULL;
    assert_int_equal(mkfifo(in(f->folder, "gate"), 0600), 0);
    put_script(f, "plugin", "(read -r x <$D/gate) & echo token");
    check_ok(run(f, &(struct process){.argv = {f->command}}, &out), &f->err);
    assert_string_equal(out, "token\n");
    free(out);
    int gate =
        open(in(f->folder, "gate"), O_WRONLY | O_CLOEXEC); /* it is still there, and now ends */
    assert_true(gate >= 0);
    assert_int_equal(close(gate), 0);
}

/* ---- what goes in ---- */

static void test_start(void **state) {
    const char *const args[] = {"one", ""};
    const struct kube_exec_env env[] = {{"HOME", "/elsewhere"},
                                        {"EVENKEEL", "x"},
                                        {"A", "1"},
                                        {"A", "2=3"},
                                        {"KUBERNETES_EXEC_INFO", "forged"}};
    const struct kube_exec exec = {
        .command = "c", .args = args, .arg_count = 2, .env = env, .env_count = 5};
    struct exec_start s;
    struct arena arena;
    struct err err;
    unsigned homes = 0, as = 0, infos = 0, usual = 0;
    (void)state;
    assert_int_equal(setenv("HOME", "/root", 1) | setenv("KUBERNETES_EXEC_INFO", "x", 1) |
                         setenv("EVENKEEL_TEST", "kept", 1),
                     0);
    arena_init(&arena, 1 << 20);
    check_ok(exec_start_build(&exec, &arena, &s, &err), &err);
    assert_string_equal(s.argv[0], "c");
    assert_string_equal(s.argv[1], "one");
    assert_string_equal(s.argv[2], "");
    assert_null(s.argv[3]);
    assert_null(*s.info);
    for (char **e = s.envp; *e != NULL; e++) {
        homes += strncmp(*e, "HOME=", 5) == 0;
        as += strncmp(*e, "A=", 2) == 0;
        infos += strncmp(*e, "KUBERNETES_EXEC_INFO=", 21) == 0;
        usual += strcmp(*e, "EVENKEEL_TEST=kept") == 0;
        if (strncmp(*e, "HOME=", 5) == 0)
            assert_string_equal(*e, "HOME=/elsewhere");
        if (strncmp(*e, "A=", 2) == 0)
            assert_string_equal(*e, "A=2=3");
    }
    assert_int_equal(homes, 1);
    assert_int_equal(as, 1);
    assert_int_equal(infos, 0);
    assert_int_equal(usual, 1);
    arena_done(&arena);
    arena_init(&arena, 100);
    assert_int_equal(exec_start_build(&exec, &arena, &s, &err), -ENOMEM);
    arena_done(&arena);
    assert_int_equal(unsetenv("KUBERNETES_EXEC_INFO"), 0);
}

static void test_info(void **state) {
    struct kube_access access = {.server = "https://h\"", .exec = {.api_version = V1}};
    struct strbuf out = {0};
    (void)state;
    exec_credential_info(&access, STR("ca"), &out);
    assert_str(strbuf_str(&out), "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                                 "\",\"spec\":{\"interactive\":false}}");
    strbuf_clear(&out);
    access.exec.provide_cluster_info = true;
    exec_credential_info(&access, STR(""), &out);
    assert_str(strbuf_str(&out),
               "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
               "\",\"spec\":{\"cluster\":{\"server\":\"https://h\\\"\",\"config\":null},"
               "\"interactive\":false}}");
    strbuf_clear(&out);
    access.tls_server_name = "n";
    access.insecure_skip_tls_verify = true;
    access.proxy_url = "http://p";
    access.exec.cluster_config = "{\"a\":1}";
    exec_credential_info(&access, STR("ca"), &out);
    assert_str(strbuf_str(&out),
               "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
               "\",\"spec\":{\"cluster\":{\"server\":\"https://h\\\"\",\"tls-server-name\":\"n\","
               "\"insecure-skip-tls-verify\":true,\"certificate-authority-data\":\"Y2E=\","
               "\"proxy-url\":\"http://p\",\"config\":{\"a\":1}},\"interactive\":false}}");
    strbuf_done(&out);
}

/* ---- what comes out ---- */

static int read_text(struct str text, struct arena *arena, struct exec_credential *ret,
                     struct err *err) {
    *err = (struct err){0};
    *ret = (struct exec_credential){.expires_ms = -1};
    return exec_credential_read(text, V1, arena, ret, err);
}

static void test_answers(void **state) {
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "its output: ExecCredential: expected an object, but the text ends"},
        {"token", "its output: "},
        {"[]", "expected an object, found an array"},
        {ANSWER("{\"token\":\"a\"}") "x", "unexpected text"},
        {"{\"kind\":\"Pod\"}", "it printed kind 'Pod' instead of ExecCredential"},
        {"{}", "it printed kind ''"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
         "\"status\":{\"token\":\"a\"}}",
         "it printed apiVersion 'client.authentication.k8s.io/v1beta1', the kubeconfig asks for "
         "'" V1 "'"},
        {ANSWER("null"), "it printed no status"},
        {ANSWER("1"), "expected an object"},
        {ANSWER("{}"), "neither a token nor a certificate"},
        {ANSWER("{\"token\":\"\"}"), "neither a token nor a certificate"},
        {ANSWER("{\"token\":1}"), "status.token: expected a string"},
        {ANSWER("{\"clientKeyData\":\"k\"}"), "clientKeyData without clientCertificateData"},
        {ANSWER("{\"token\":\"a\",\"clientCertificateData\":\"c\"}"),
         "clientCertificateData without clientKeyData"},
        {ANSWER("{\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}"),
         "its certificate and key: "},
        {ANSWER("{\"token\":\"a\\r\\nX: y\"}"), "no header may have"},
        {ANSWER("{\"token\":\"a\",\"expirationTimestamp\":\"tomorrow\"}"), "is not a time"},
    };
    struct arena arena;
    struct exec_credential c;
    struct err err;
    char text[512];
    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        (void)snprintf(text, sizeof text, "%s", bad[i].text); /* fits; it will be wiped */
        assert_int_equal(read_text(str_of(text), &arena, &c, &err), -EINVAL);
        assert_contains(err.text, bad[i].words);
        assert_int_equal(c.expires_ms, -1);
    }
    (void)snprintf(text, sizeof text, "%s\n",
                   ANSWER("{\"token\":\"a.b-c_d/e+f=\",\"x\":[],\"expirationTimestamp\":\"2026-01-"
                          "01T00:00:00Z\"},\"spec\":{}")); /* fits */
    check_ok(read_text(str_of(text), &arena, &c, &err), &err);
    assert_str(c.token, "a.b-c_d/e+f=");
    assert_int_equal(c.certificate.n, 0);
    assert_int_equal(c.expires_ms, NOW * 1000);
    exec_credential_wipe(&c);
    assert_null(strstr(text, "a.b"));
    (void)snprintf(text, sizeof text, "%s",
                   ANSWER("{\"token\":\"a\",\"expirationTimestamp\":null}")); /* fits */
    check_ok(read_text(str_of(text), &arena, &c, &err), &err);
    assert_true(c.expires_ms == INT64_MAX);
    arena_done(&arena);
}

static void test_timestamps(void **state) {
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-01-01T00:00:00Z", NOW * 1000},
        {"2026-01-01T02:30:00+02:30", NOW * 1000},
        {"2025-12-31T19:00:00.25-05:00", NOW * 1000 + 250},
        {"2026-01-01T00:00:00.123456789Z", NOW * 1000 + 123},
        {"2024-02-29T23:59:59Z", 1709251199000},
        {"1969-12-31T23:59:59Z", -1000},
        {"0001-01-01T00:00:00Z", -62135596800000},
        {"9999-12-31T23:59:59Z", 253402300799000},
    };
    static const char *const bad[] = {"",
                                      "2026-01-01",
                                      "2026-01-01T00:00:00",
                                      "2026-01-01 00:00:00Z",
                                      "2026-1-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2025-02-29T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:60Z",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00+0200",
                                      "2026-01-01T00:00:00+24:00",
                                      "2026-01-01T00:00:00+02:60",
                                      "2026-01-01T00:00:00ZZ",
                                      "2026-01-01T00:00:00z",
                                      "-026-01-01T00:00:00Z"};
    int64_t ms;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(timestamp_parse(str_of(good[i].text), &ms));
        assert_true(ms == good[i].ms);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (timestamp_parse(str_of(bad[i]), &ms))
            fail_msg("'%s' was taken for a time", bad[i]);
}

/* ---- when it runs ---- */

static void wake(void *ctx) {
    (void)sem_post(&((struct fixture *)ctx)->woken); /* far from its maximum */
}

static void start(struct fixture *f, int64_t time_limit_ms) {
    const struct exec_plugin_options options = {.access = &f->access,
                                                .clock = &f->clock.clock,
                                                .wake = wake,
                                                .ctx = f,
                                                .time_limit_ms = time_limit_ms};
    check_ok(exec_plugin_new(&options, &f->plugin, &f->err), &f->err);
}

static int get(struct fixture *f) {
    f->err = (struct err){0};
    return exec_plugin_get(f->plugin, f->ca, &f->answer, &f->err);
}

/* Waits until the plugin has ended. */
static void await(struct fixture *f) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until); /* cannot fail on Linux */
    until.tv_sec += 60;
    int r;
    while ((r = sem_timedwait(&f->woken, &until)) != 0 && errno == EINTR) {
    }
    assert_int_equal(r, 0);
}

/* No answer to be had until the plugin has run; then this. */
static int get_after_run(struct fixture *f) {
    assert_int_equal(get(f), -EAGAIN);
    assert_contains(f->err.text, "is at work");
    await(f);
    return get(f);
}

static void check_token(struct fixture *f, int r, const char *token) {
    check_ok(r, &f->err);
    assert_str(f->answer.token, token);
}

/* A plugin that counts its runs and prints what the file "answer" says, as a shell would. */
static void put_counter(struct fixture *f) {
    put_script(f, "plugin",
               "ca=${KUBERNETES_EXEC_INFO#*authority-data\\\":\\\"}; ca=${ca%%\\\"*}\n"
               "echo x >>$D/runs; . $D/answer");
}

static void put_answer(struct fixture *f, const char *script) {
    put_file(in(f->folder, "answer"), str_of(script), 0600);
}

/* One that expires so many seconds from now. */
static void put_expiring(struct fixture *f, const char *token, int seconds) {
    char script[512];
    (void)snprintf(script, sizeof script,
                   "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{"
                   "\"token\":\"%s\",\"expirationTimestamp\":\"'$(date -u -d '%d seconds' "
                   "+%%FT%%T.%%3NZ)'\"}}'",
                   token, seconds); /* fits */
    put_answer(f, script);
}

static void put_token(struct fixture *f, const char *token) {
    char script[512];
    (void)snprintf(script, sizeof script, "echo '" ANSWER("{\"token\":\"%s\"}") "'",
                   token); /* fits */
    put_answer(f, script);
}

static unsigned runs(const struct fixture *f) {
    struct stat st;
    return stat(in(f->folder, "runs"), &st) == 0 ? (unsigned)st.st_size / 2 : 0;
}

static void test_answer_without_expiry(void **state) {
    struct fixture *f = *state;
    put_counter(f);
    put_token(f, "one");
    start(f, 0);
    check_token(f, get_after_run(f), "one");
    assert_int_equal(f->answer.certificate.n, 0);
    put_token(f, "two");
    f->clock.at_ms += 1000ll * 86400 * 365;
    check_token(f, get(f), "one");
    assert_int_equal(runs(f), 1);

    /* a request that began before the answer came was sent with another one */
    exec_plugin_refused(f->plugin, 999999);
    check_token(f, get(f), "one");
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    exec_plugin_refused(f->plugin, f->clock.at_ms); /* two requests, one reason */
    check_token(f, get_after_run(f), "two");
    assert_int_equal(runs(f), 2);

    /* a server that refuses everything does not make it run for every request */
    put_token(f, "three");
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    check_token(f, get(f), "two");
    f->clock.at_ms += 4999;
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    check_token(f, get(f), "two");
    f->clock.at_ms += 1;
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    check_token(f, get_after_run(f), "three");
    assert_int_equal(runs(f), 3);
}

/* Refused at the moment the answer came: the request was sent with it. */
static void test_refused_at_once(void **state) {
    struct fixture *f = *state;
    put_counter(f);
    put_token(f, "one");
    start(f, 0);
    check_token(f, get_after_run(f), "one");
    put_token(f, "two");
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    check_token(f, get_after_run(f), "two");
}

/* The token "$ca" tells which call of get() made the plugin run: what it was given as the CA. */
static void test_answer_expires(void **state) {
    struct fixture *f = *state;
    f->access.exec.provide_cluster_info = true;
    put_counter(f);
    put_expiring(f, "one", 1000);
    start(f, 0);
    check_token(f, get_after_run(f), "one");
    put_expiring(f, "'$ca'", 1000);
    f->ca = STR("early");
    f->clock.at_ms += 900000; /* real time goes on as well, so that life is a little shorter */
    check_token(f, get(f), "one");
    f->ca = STR("in time");
    f->clock.at_ms += 50000; /* less than a minute left: asked again, while the old one is good */
    check_token(f, get(f), "one");
    await(f);
    check_token(f, get(f), "aW4gdGltZQ==");

    f->clock.at_ms += 950000;
    put_answer(f, "echo 'not now' >&2; exit 1");
    check_token(f, get(f), "aW4gdGltZQ==");
    await(f);
    check_token(f, get(f), "aW4gdGltZQ=="); /* in vain */
    put_expiring(f, "'$ca'", 1000);
    f->ca = STR("early");
    f->clock.at_ms += 4999;
    check_token(f, get(f), "aW4gdGltZQ==");
    f->ca = STR("later");
    f->clock.at_ms += 1;
    check_token(f, get(f), "aW4gdGltZQ==");
    await(f);
    check_token(f, get(f), "bGF0ZXI=");
    f->clock.at_ms += 1000000; /* nobody asked in time */
    put_expiring(f, "two", 1000);
    check_token(f, get_after_run(f), "two");
    assert_int_equal(runs(f), 5);
}

/* A clock is wrong: the server decides whether it is any good, we ask again soon. */
static void test_answer_has_expired(void **state) {
    struct fixture *f = *state;
    f->access.exec.provide_cluster_info = true;
    put_counter(f);
    put_expiring(f, "one", -100);
    start(f, 0);
    check_token(f, get_after_run(f), "one");
    put_expiring(f, "'$ca'", 1000);
    f->ca = STR("early");
    f->clock.at_ms += 4999; /* a life so short has no early */
    check_token(f, get(f), "one");
    f->ca = STR("later");
    f->clock.at_ms += 1;
    check_token(f, get_after_run(f), "bGF0ZXI=");
    f->clock.at_ms += 1000000;
    put_answer(f, "exit 4");
    assert_int_equal(get_after_run(f), -EPROTO); /* what has expired is not used any more */
    assert_contains(f->err.text, "status 4");
}

static void test_failures_back_off(void **state) {
    struct fixture *f = *state;
    static const int waits_ms[] = {5000, 10000, 20000, 40000, 60000, 60000};
    put_counter(f);
    put_answer(f, "echo login first >&2; exit 7");
    start(f, 0);
    for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
        assert_int_equal(get_after_run(f), -EPROTO);
        assert_contains(f->err.text, "credential plugin: '");
        assert_contains(f->err.text, "ended with status 7: login first");
        f->clock.at_ms += waits_ms[i] - 1;
        assert_int_equal(get(f), -EPROTO);
        assert_int_equal(runs(f), i + 1);
        f->clock.at_ms += 1;
    }
    put_token(f, "at last");
    assert_int_equal(get_after_run(f), -EINVAL); /* a token with a blank */
    assert_contains(f->err.text, "plugin': its token");
    f->clock.at_ms += 60000;
    put_token(f, "one");
    check_token(f, get_after_run(f), "one");
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    put_answer(f, "exit 7");
    assert_int_equal(get_after_run(f), -EPROTO); /* what was refused is not used any more */
    f->clock.at_ms += 4999;
    assert_int_equal(get(f), -EPROTO);
    f->clock.at_ms += 1; /* success has ended the back-off */
    put_token(f, "two");
    check_token(f, get_after_run(f), "two");
}

static void test_bounds(void **state) {
    struct fixture *f = *state;
    put_script(f, "plugin", "exec head -c 10000000 /dev/zero");
    start(f, 0);
    assert_int_equal(get_after_run(f), -EFBIG);
    assert_contains(f->err.text, "more than 1048576 bytes");
    exec_plugin_free(f->plugin);
    put_script(f, "plugin", "exec sleep 1000");
    start(f, 100);
    assert_int_equal(get_after_run(f), -ETIMEDOUT);
    assert_contains(f->err.text, "had not ended after 100 ms");
}

static void test_not_installed(void **state) {
    struct fixture *f = *state;
    if (!spawn_tells())
        skip();
    f->access.exec.command = "evenkeel-no-such-plugin";
    f->access.exec.install_hint = "Get it\nfrom \033[1mhere";
    start(f, 0);
    assert_int_equal(get_after_run(f), -ENOENT);
    assert_contains(f->err.text, "credential plugin: cannot run 'evenkeel-no-such-plugin': No such "
                                 "file or directory; Get it from  [1mhere");
}

/* The environment reaches it, and the answer comes back. */
static void test_conversation(void **state) {
    struct fixture *f = *state;
    const struct kube_exec_env env[] = {{"GREETING", "hello"}};
    const char *const args[] = {"tok"};
    f->access.exec.env = env;
    f->access.exec.env_count = 1;
    f->access.exec.args = args;
    f->access.exec.arg_count = 1;
    f->access.exec.provide_cluster_info = true;
    put_script(f, "plugin",
               "printf %s \"$KUBERNETES_EXEC_INFO\" >$D/info\n"
               "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
               "\",\"status\":{\"token\":\"'$1-$GREETING'\"}}'");
    start(f, 0);
    check_token(f, get_after_run(f), "tok-hello");
    struct strbuf info = {0};
    check_ok(file_read(in(f->folder, "info"), 10000, &info, &f->err), &f->err);
    assert_str(strbuf_str(&info),
               "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
               "\",\"spec\":{\"cluster\":{\"server\":\"https://h\",\"certificate-authority-data\":"
               "\"dGhlIGNh\",\"config\":null},\"interactive\":false}}");
    strbuf_done(&info);
}

/* An answer with a certificate, PEM escaped for JSON. */
static void put_certificate(struct fixture *f, struct str certificate, struct str key) {
    struct strbuf script = {0};
    strbuf_appendf(&script, "cat <<'EOF'\n{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                            "\",\"status\":{\"clientCertificateData\":\"");
    for (size_t i = 0; i < certificate.n; i++)
        strbuf_appendf(&script, certificate.p[i] == '\n' ? "\\n" : "%c", certificate.p[i]);
    strbuf_appendf(&script, "\",\"clientKeyData\":\"");
    for (size_t i = 0; i < key.n; i++)
        strbuf_appendf(&script, key.p[i] == '\n' ? "\\n" : "%c", key.p[i]);
    strbuf_appendf(&script, "\"}}\nEOF\n");
    put_file(in(f->folder, "answer"), strbuf_str(&script), 0600);
    strbuf_done(&script);
}

static void test_certificates(void **state) {
    struct fixture *f = *state;
    struct authority *a = new_authority("ca", 10, NOW);
    struct issued one = issue_server(a, 1, NOW, "a", NULL, NULL);
    struct issued two = issue_server(a, 1, NOW, "b", NULL, NULL);
    put_counter(f);
    put_certificate(f, strbuf_str(&one.certificate), strbuf_str(&one.key));
    start(f, 0);
    check_ok(get_after_run(f), &f->err);
    assert_int_equal(f->answer.token.n, 0);
    assert_true(str_eq(f->answer.certificate, strbuf_str(&one.certificate)));
    assert_true(str_eq(f->answer.key, strbuf_str(&one.key)));
    uint64_t version = f->answer.tls_version;

    exec_plugin_refused(f->plugin, f->clock.at_ms);
    check_ok(get_after_run(f), &f->err);
    assert_true(f->answer.tls_version == version); /* the same again */
    f->clock.at_ms += 5000;
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    put_certificate(f, strbuf_str(&two.certificate), strbuf_str(&two.key));
    check_ok(get_after_run(f), &f->err);
    assert_true(str_eq(f->answer.certificate, strbuf_str(&two.certificate)));
    assert_true(f->answer.tls_version != version);
    f->clock.at_ms += 5000;
    exec_plugin_refused(f->plugin, f->clock.at_ms);
    put_certificate(f, strbuf_str(&two.certificate), strbuf_str(&one.key));
    assert_int_equal(get_after_run(f), -EINVAL);
    assert_contains(f->err.text, "its key does not belong to its certificate");
    issued_done(&one);
    issued_done(&two);
    authority_free(a);
}

/* ---- its end ---- */

static void test_end(void **state) {
    struct fixture *f = *state;
    exec_plugin_free(NULL);
    start(f, 0); /* it has never run */
    exec_plugin_free(f->plugin);
    put_counter(f);
    put_token(f, "one");
    start(f, 0); /* nobody has taken the answer */
    assert_int_equal(get(f), -EAGAIN);
    await(f);
    exec_plugin_free(f->plugin);

    /* at work: it holds the pipe open as long as it lives */
    assert_int_equal(mkfifo(in(f->folder, "fifo"), 0600), 0);
    int fifo = open(in(f->folder, "fifo"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fifo >= 0);
    put_script(f, "plugin", "exec 3>$D/fifo; echo x >&3; sleep 1000");
    start(f, 3600000);
    assert_int_equal(get(f), -EAGAIN);
    struct pollfd p = {fifo, POLLIN, 0};
    assert_int_equal(poll(&p, 1, 60000), 1);
    exec_plugin_free(f->plugin); /* or the test takes a thousand seconds */
    assert_true(hung_up(fifo));
    assert_int_equal(close(fifo), 0);
    assert_int_equal(sem_trywait(&f->woken), -1); /* it did not end, it was ended */

    for (int i = 0; i < 50; i++) { /* whatever the thread is about */
        put_script(f, "plugin", "exit 1");
        start(f, 0);
        (void)get(f); /* at work, or not */
        exec_plugin_free(f->plugin);
    }
    f->plugin = NULL;
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_process_is_bare),
        TEST(test_process_without_stdio),
        TEST(test_process_fails),
        TEST(test_process_cannot_start),
        TEST(test_process_prints_too_much),
        TEST(test_process_hangs),
        TEST(test_process_is_stopped),
        TEST(test_process_leaves_another),
        TEST(test_start),
        TEST(test_info),
        TEST(test_answers),
        TEST(test_timestamps),
        TEST(test_answer_without_expiry),
        TEST(test_refused_at_once),
        TEST(test_answer_expires),
        TEST(test_answer_has_expired),
        TEST(test_failures_back_off),
        TEST(test_bounds),
        TEST(test_not_installed),
        TEST(test_conversation),
        TEST(test_certificates),
        TEST(test_end),
    };
    return cmocka_run_group_tests_name("exec_plugin", tests, NULL, NULL);
}
