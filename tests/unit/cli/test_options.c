#include "cli/options.h"

#include "base/file.h"
#include "cli/commands.h"

#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const struct option_spec specs[] = {
    {"output", 'o', "FORMAT", "table or json"},
    {"force", 0, NULL, "do it"},
};

static const struct command plain = {
    .name = "try",
    .usage = "FILE",
    .about = "Tries.",
    .example = "evenkeel try a",
    .specs = specs,
    .spec_count = 2,
};

static const struct command with_flags = {
    .name = "try",
    .usage = "FILE",
    .about = "Tries.",
    .example = "evenkeel try a",
    .specs = specs,
    .spec_count = 2,
    .configuration_flags = true,
    .first_flags = "log-level state",
    .every_flag = true,
};

/* What a command line came to: "output=json force arg=a extender-listen:=x" or "!2". */
struct outcome {
    char text[300];
    char said[ERR_TEXT_SIZE]; /* on stderr or stdout */
};

static void note(struct outcome *o, const struct option_value *v) {
    size_t n = strlen(o->text);
    (void)snprintf(o->text + n, sizeof o->text - n, "%s%s%s%s%s", n > 0 ? " " : "",
                   v->spec != NULL   ? v->spec->name
                   : v->flag != NULL ? v->flag
                                     : "arg",
                   v->flag != NULL ? ":" : "", v->text != NULL ? "=" : "",
                   v->text != NULL ? v->text : ""); /* fits */
}

/* `fd` goes to a file while the command line is parsed. */
static struct outcome parse(const struct command *command, int fd, const char *line) {
    struct outcome outcome = {.text = ""};
    struct options o;
    struct option_value v;
    struct err err;
    char copy[300], *argv[16], path[] = "/tmp/evenkeel-options-XXXXXX", *rest = copy;
    int argc = 0;
    (void)snprintf(copy, sizeof copy, "%s", line); /* fits */
    for (char *word; argc < 15 && (word = strsep(&rest, " ")) != NULL;)
        argv[argc++] = word;
    argv[argc] = NULL;
    (void)fflush(stdout); /* cmocka's */
    int saved = dup(fd), file = mkstemp(path);
    assert_true(saved >= 0 && file >= 0 && dup2(file, fd) == fd);
    options_init(&o, command, argc, argv);
    while (options_next(&o, &v))
        note(&outcome, &v);
    (void)fflush(stdout); /* the help */
    assert_true(dup2(saved, fd) == fd);
    if (o.stopped)
        (void)snprintf(outcome.text, sizeof outcome.text, "!%d", o.exit_status); /* fits */
    struct strbuf said = {.max = 1 << 20};
    assert_int_equal(file_read(path, 1 << 19, &said, &err), 0);
    (void)snprintf(outcome.said, sizeof outcome.said, "%.*s", (int)said.n,
                   said.p != NULL ? said.p : ""); /* its beginning is enough */
    strbuf_done(&said);
    assert_int_equal(close(saved) | close(file) | unlink(path), 0);
    return outcome;
}

static void test_good_lines(void **state) {
    (void)state;
    static const struct {
        const struct command *command;
        const char *line, *want;
    } rows[] = {
        {&plain, "try", ""},
        {&plain, "try a b", "arg=a arg=b"},
        {&plain, "try -o json a", "output=json arg=a"},
        {&plain, "try a -ojson", "arg=a output=json"},
        {&plain, "try a -o=json-lines", "arg=a output=json-lines"},
        {&plain, "try -o=", "output="},
        {&plain, "try --output json --force", "output=json force"},
        {&plain, "try --output=json --output=", "output=json output="},
        {&plain, "try --output=a=b", "output=a=b"},
        {&plain, "try -- --force -o", "arg=--force arg=-o"},
        {&plain, "try --output - -", "output=- arg=-"},
        {&plain, "try --output -1", "output=-1"},
        {&with_flags, "try --extender-listen :1 x", "extender-listen:=:1 arg=x"},
        {&with_flags, "try --state a --state=b", "state:=a state:=b"},
        {&with_flags, "try --insecure-extender a", "insecure-extender:=true arg=a"},
        {&with_flags, "try --insecure-extender=false", "insecure-extender:=false"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct outcome o = parse(rows[i].command, 2, rows[i].line);
        assert_string_equal(o.text, rows[i].want);
        assert_string_equal(o.said, "");
    }
}

static void test_bad_lines(void **state) {
    (void)state;
    static const struct {
        const struct command *command;
        const char *line, *said;
    } rows[] = {
        {&plain, "try --ouput json", "unknown option '--ouput'; did you mean --output?"},
        {&plain, "try --zebra", "unknown option '--zebra'\n"},
        {&plain, "try --zebra=1", "unknown option '--zebra'\n"},
        {&plain, "try -output json", "unknown option '-output'; did you mean --output?"},
        {&plain, "try -x", "unknown option '-x'\n"},
        {&plain, "try -hx", "unknown option '-hx'"},
        {&plain, "try -h=x", "unknown option '-h'"},
        {&plain, "try --out_put x", "unknown option '--out_put'; did you mean --output?"},
        {&plain, "try --output", "option '--output' needs a value: --output FORMAT"},
        {&plain, "try -o", "option '--output' needs a value: --output FORMAT"},
        {&plain, "try --output --force", "option '--output' needs a value"},
        {&plain, "try --force=yes", "option '--force' takes no value"},
        {&plain, "try --extender-listen x", "unknown option '--extender-listen'\n"},
        {&plain, "try --hlep", "did you mean --help?"},
        {&with_flags, "try --extender-lisen x", "did you mean --extender-listen?"},
        {&with_flags, "try --extender-listen", "needs a value: --extender-listen ADDRESS"},
        {&with_flags, "try --log-level", "needs a value: --log-level debug|info|warn|error"},
        {&with_flags, "try --=x", "unknown option '--'\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct outcome o = parse(rows[i].command, 2, rows[i].line);
        assert_string_equal(o.text, "!2");
        assert_contains(o.said, rows[i].said);
        assert_contains(o.said, "\nTry 'evenkeel try --help'.\n");
    }
}

static void test_help(void **state) {
    (void)state;
    struct outcome o = parse(&plain, 1, "try a --help --zebra");
    assert_string_equal(o.text, "!0");
    assert_string_equal(
        o.said, "Usage: evenkeel try FILE\n\nTries.\n\nExample:\nevenkeel try a\n\nOptions:\n"
                "  -o, --output FORMAT              table or json\n"
                "      --force                      do it\n"
                "  -h, --help                       show this help\n");
    static const struct option_heading headings[] = {{1, "Seldom"}, {0, NULL}};
    struct command headed = plain;
    headed.headings = headings;
    o = parse(&headed, 1, "try --help");
    assert_contains(o.said, "\nOptions:\n"
                            "  -o, --output FORMAT              table or json\n"
                            "  -h, --help                       show this help\n"
                            "\nSeldom:\n"
                            "      --force                      do it\n");
    o = parse(&plain, 1, "try -h");
    assert_string_equal(o.text, "!0");
}

static void test_help_lists_every_flag(void **state) {
    (void)state;
    CLEANUP(strbuf_done) struct strbuf out = {.max = 1 << 20};
    struct configuration_option option;
    command_help(&with_flags, false, &out);
    strbuf_append_char(&out, '\0');
    for (size_t i = 0; configuration_option_at(i, &option); i++)
        if (option.flag != NULL)
            assert_contains(out.p, option.flag);
    /* the first in the order given, each once; the others below what they are for */
    const char *level = strstr(out.p, "\n      --log-level "),
               *paths = strstr(out.p, "\n      --state "),
               *cluster =
                   strstr(out.p, "\n\nRead the cluster:\n      --state-poll-interval DURATION\n"),
               *log = strstr(out.p, "\n\nSee and log what it does:\n      --ops-listen ADDRESS\n");
    assert_true(level != NULL && level < paths && paths < cluster && cluster < log);
    assert_null(strstr(level + 1, "\n      --log-level "));
    assert_null(strstr(paths + 1, "\n      --state "));
    size_t column = 0;
    for (size_t i = 0; i < out.n; i++) {
        column = out.p[i] == '\n' ? 0 : column + 1;
        assert_true(column <= 90);
    }
}

static void test_output_formats(void **state) {
    (void)state;
    struct options o = {.command = &plain};
    assert_true(options_output_is_json(&o, "json"));
    assert_false(options_output_is_json(&o, "table"));
    assert_false(o.stopped);
}

/* ---- options_configure ---- */

static int configure(const char *file_text, int argc, char **argv, struct options *ret_o,
                     struct configuration *c, struct err *err) {
    char path[] = "/tmp/evenkeel-options-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    assert_int_equal(file_write_atomic(path, str_of(file_text), 0600, err), 0);
    configuration_init(c);
    options_init(ret_o, &with_flags, argc, argv);
    int r = options_configure(ret_o, path, c, err);
    assert_int_equal(unlink(path), 0);
    return r;
}

static void test_flags_win_wherever_they_stand(void **state) {
    (void)state;
    static char name[] = "try", priority[] = "--extender-max-priority=17", state1[] = "--state=x",
                state2[] = "--state=y", argument[] = "a";
    char *argv[] = {name, priority, argument, state1, state2, NULL};
    static const char file[] =
        "apiVersion: evenkeel.io/v1alpha1\nkind: EvenkeelConfiguration\n"
        "extender: {maxPriority: 13, listen: \":1\"}\nstate: {paths: [p, q, r]}\n";
    struct configuration c;
    struct options o;
    struct err err;
    assert_int_equal(configure(file, 5, argv, &o, &c, &err), 0);
    assert_int_equal(c.engine.max_priority, 17);
    assert_string_equal(c.extender.listen, ":1");
    assert_int_equal(c.state.path_count, 2);
    assert_string_equal(c.state.paths[0], "x");
    assert_string_equal(c.state.paths[1], "y");
    configuration_done(&c);
}

/* A wrong value on the command line is wrong usage; in a file it is not. */
static void test_who_is_wrong(void **state) {
    (void)state;
    static char name[] = "try", good[] = "--extender-max-priority=17",
                bad[] = "--extender-max-priority=many", unknown[] = "--extender-max-priorit";
    static const char header[] = "apiVersion: evenkeel.io/v1alpha1\nkind: EvenkeelConfiguration\n";
    static const struct {
        const char *file_ends;
        char *flag;
        bool usage;
        const char *words;
    } rows[] = {
        {"", bad, true, "--extender-max-priority: 'many' is not a whole number"},
        {"", unknown, true, "the command line cannot be used"},
        {"extender: {maxPriority: many}\n", good, false, "extender.maxPriority: expected a number"},
        {"extender: {maxPriority: many}\n", bad, false, "extender.maxPriority: expected a number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP(strbuf_done) struct strbuf file = {0};
        struct configuration c;
        struct options o;
        struct err err;
        strbuf_appendf(&file, "%s%s", header, rows[i].file_ends);
        strbuf_append_char(&file, '\0');
        assert_int_equal(configure(file.p, 2, (char *[]){name, rows[i].flag, NULL}, &o, &c, &err),
                         -EINVAL);
        assert_contains(err.text, rows[i].words);
        assert_int_equal(o.stopped, rows[i].usage);
        assert_true(!rows[i].usage || o.exit_status == EXIT_USAGE);
        configuration_done(&c);
    }
}

/* ---- version ---- */

static void test_version(void **state) {
    (void)state;
    static char version[] = "version", output[] = "-o", json[] = "json", extra[] = "extra";
    struct err err;
    char path[] = "/tmp/evenkeel-options-XXXXXX";
    struct strbuf text = {.max = 1 << 16};
    (void)fflush(stdout); /* cmocka's */
    int saved = dup(1), file = mkstemp(path);
    assert_true(saved >= 0 && file >= 0 && dup2(file, 1) == 1);
    int good = cmd_version(3, (char *[]){version, output, json, NULL});
    (void)fflush(stdout); /* cmd_version has */
    assert_true(dup2(saved, 1) == 1);
    assert_int_equal(good, 0);
    assert_int_equal(file_read(path, 1 << 15, &text, &err), 0);
    strbuf_append_char(&text, '\0');
    assert_contains(text.p, "{\"version\":\"");
    assert_contains(text.p, "\"libyaml\":\"");
    strbuf_done(&text);
    assert_int_equal(close(saved) | close(file) | unlink(path), 0);
    struct outcome quiet = parse(&plain, 2, "try");
    assert_string_equal(quiet.text, "");
    assert_int_equal(cmd_version(2, (char *[]){version, extra, NULL}), EXIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lines),     cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_help),           cmocka_unit_test(test_help_lists_every_flag),
        cmocka_unit_test(test_output_formats), cmocka_unit_test(test_flags_win_wherever_they_stand),
        cmocka_unit_test(test_who_is_wrong),   cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
