/* The command: exit codes and what it says. What it does is tested in unit/certs. */
#include "base/file.h"
#include "base/json_reader.h"
#include "cli/commands.h"

#include "unit/unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_WORDS = 24 };

/* The folder of one test, and what the command last printed to stdout and stderr. */
struct fixture {
    char dir[64];
    struct strbuf out, err;
};

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.dir = "/tmp/evenkeel-test-XXXXXX"};
    *state = &f;
    return mkdtemp(f.dir) != NULL ? chdir(f.dir) : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->out);
    strbuf_done(&f->err);
    return chdir("/") == 0 ? nftw(f->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS) : -1;
}

/* Points a descriptor at a new file; returns what it was. */
static int redirect(int fd, const char *path) {
    int saved = dup(fd), file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(saved >= 0 && file >= 0);
    assert_int_equal(dup2(file, fd), fd);
    assert_int_equal(close(file), 0);
    return saved;
}

static void restore(int fd, int saved) {
    assert_int_equal(dup2(saved, fd), fd);
    assert_int_equal(close(saved), 0);
}

static void take(const char *path, struct strbuf *out) {
    strbuf_clear(out);
    assert_int_equal(file_read(path, 1 << 20, out, NULL), 0);
    strbuf_append_char(out, '\0');
}

/* Runs `certs` with the words of `line` from inside the fixture's folder. */
static int run(struct fixture *f, const char *line) {
    char words[512], *argv[MAX_WORDS] = {words}, *rest = words;
    int argc = 0;
    (void)snprintf(words, sizeof words, "certs %s", line); /* short lines */
    for (char *word; (word = strsep(&rest, " ")) != NULL && argc < MAX_WORDS - 1;)
        if (word[0] != '\0')
            argv[argc++] = word;
    argv[argc] = NULL;
    (void)fflush(stdout); /* nothing of ours is in it, here and below */
    int out = redirect(1, "stdout.txt"), err = redirect(2, "stderr.txt");
    int status = cmd_certs(argc, argv);
    (void)fflush(stdout);
    restore(1, out);
    restore(2, err);
    take("stdout.txt", &f->out);
    take("stderr.txt", &f->err);
    return status;
}

static void test_usage(void **state) {
    struct fixture *f = *state;
    assert_int_equal(run(f, ""), 2);
    assert_contains(f->err.p, "Usage: evenkeel certs COMMAND");
    assert_int_equal(run(f, "--help"), 0);
    assert_contains(f->out.p, "init");
    assert_int_equal(run(f, "inti"), 2);
    assert_contains(f->err.p, "unknown command 'inti'; did you mean 'init'?");
    assert_int_equal(run(f, "renew"), 2);
    assert_contains(f->err.p, "unknown command 'renew'; there are init, show and check");
    static const char *const verbs[] = {"init", "show", "check"};
    for (size_t i = 0; i < 3; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "%s --help", verbs[i]); /* short, here and below */
        assert_int_equal(run(f, line), 0);
        assert_contains(f->out.p, "Example:\n");
        assert_contains(f->out.p, verbs[i]);
        (void)snprintf(line, sizeof line, "%s", verbs[i]);
        assert_int_equal(run(f, line), 2);
        (void)snprintf(line, sizeof line, "%s --unknown x", verbs[i]);
        assert_int_equal(run(f, line), 2);
        assert_contains(f->err.p, "unknown option '--unknown'");
        assert_contains(f->err.p, "--help");
    }
}

static void test_wrong_values(void **state) {
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"init --dir d --days 0", "'0' is not a number of days between 1 and 36500"},
        {"init --dir d --days 1.5", "'1.5' is not a number of days"},
        {"init --dir d --ca-days 99999", "'99999' is not a number of days"},
        {"init --dir d --host a:1", "leave out the port"},
        {"init --dir d more", "unexpected argument 'more'"},
        {"init --dri d", "did you mean --dir?"},
        {"check --cert a", "give --cert FILE and --key FILE"},
        {"check --cert a --key b --within -1", "'-1' is not a number of days between 0 and"},
        {"show -o yaml f", "unknown output format 'yaml'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(run(f, rows[i][0]), 2);
        assert_contains(f->err.p, rows[i][1]);
        assert_int_equal(f->out.n, 1); /* the NUL */
    }
    assert_int_equal(access("d", F_OK), -1);
}

static void test_init_and_check(void **state) {
    struct fixture *f = *state;
    assert_int_equal(run(f, "init --dir d --host a.example --host ::1 --days 30 --ca-days 60"), 0);
    assert_contains(f->out.p, "FILE        WHAT");
    assert_contains(f->out.p, "ca.crt      CA, new");
    assert_contains(f->out.p, "(30 days left)\n");
    assert_contains(f->out.p, "(60 days left)\n");
    assert_contains(f->out.p,
                    "evenkeel certs check --cert d/tls.crt --key d/tls.key --ca d/ca.crt\n");
    const char *check = "check --cert d/tls.crt --key d/tls.key --ca d/ca.crt --host a.example";
    assert_int_equal(run(f, check), 0);
    assert_contains(f->out.p, "ok: valid until ");
    assert_int_equal(run(f, "check --cert d/tls.crt --key d/ca.key --host b --within 31"), 1);
    assert_contains(f->out.p, "d/tls.crt: the certificate expires in ");
    assert_contains(f->out.p, "d/tls.crt: the certificate is not for host 'b'");
    assert_contains(f->out.p, "d/ca.key: the key does not belong to the certificate d/tls.crt");
    assert_int_equal(run(f, "init --dir d"), 0);
    assert_contains(f->out.p, "ca.crt      CA, kept");
    assert_int_equal(run(f, check), 0);
    assert_int_equal(run(f, "init --dir none/d"), 1);
    assert_contains(f->err.p, "evenkeel certs init: cannot make the folder 'none/d'");
}

static void test_show(void **state) {
    struct fixture *f = *state;
    assert_int_equal(run(f, "init --dir d"), 0);
    assert_int_equal(run(f, "show d/tls.crt d/ca.crt"), 0);
    assert_contains(f->out.p, "d/tls.crt\n  usage       server\n  subject     CN=evenkeel\n");
    assert_contains(f->out.p, "  issuer      CN=evenkeel-ca\n");
    assert_contains(f->out.p, "  names       localhost, 127.0.0.1, ::1\n");
    assert_contains(f->out.p, "days left)\n  sha256      ");
    assert_contains(f->out.p, "  usage       certificate authority\n");
    assert_contains(f->out.p, "  issuer      itself\n  names       none\n");
    assert_int_equal(run(f, "show d/tls.crt none d/tls.key"), 1); /* shows what it can */
    assert_contains(f->out.p, "CN=evenkeel\n");
    assert_contains(f->err.p, "evenkeel certs show: cannot open 'none': No such file");
    assert_contains(f->err.p, "cannot show 'd/tls.key': no certificate");
}

static void test_show_json(void **state) {
    struct fixture *f = *state;
    assert_int_equal(run(f, "init --dir d --host a.example"), 0);
    assert_int_equal(run(f, "show -o json d/tls.crt d/client.crt"), 0);
    struct arena arena;
    struct json_reader r;
    arena_init(&arena, 1 << 16);
    json_reader_init(&r, (struct str){f->out.p, f->out.n - 1}, &arena, "list");
    static const char *const keys[] = {"file",      "subject",  "issuer",   "names",
                                       "notBefore", "notAfter", "daysLeft", "ca",
                                       "server",    "client",   "sha256"};
    size_t certificates = 0;
    assert_true(json_array(&r));
    for (; json_element(&r); certificates++) {
        struct str key;
        size_t n = 0;
        assert_true(json_object(&r));
        for (; json_member(&r, &key); n++) {
            assert_true(n < sizeof keys / sizeof keys[0]);
            assert_str(key, keys[n]);
            (void)json_skip(&r); /* errors stay in r */
        }
        assert_int_equal(n, sizeof keys / sizeof keys[0]);
    }
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_int_equal(certificates, 2);
    assert_contains(f->out.p, "\"names\":[\"a.example\"]");
    assert_contains(f->out.p, "\"ca\":false,\"server\":false,\"client\":true");
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_usage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_init_and_check, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_show, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_show_json, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
