/*
 * evenkeel certs init|show|check: makes, shows and checks certificates. The work is done in certs/;
 * here are only options, tables and exit codes.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "base/suggest.h"
#include "base/table.h"
#include "certs/authority.h"
#include "certs/check.h"
#include "certs/folder.h"
#include "certs/host.h"
#include "certs/inspect.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_HOSTS = 64, SECONDS_PER_DAY = 86400 };

/* ---- output ---- */

static int complain(const char *verb, const char *why) {
    (void)fprintf(stderr, "evenkeel certs %s: %s\n", verb, why); /* nowhere to report to */
    return EXIT_FAILURE;
}

static int put_out(const char *verb, const struct strbuf *text) {
    if (!strbuf_failed(text) && fwrite(text->p, 1, text->n, stdout) == text->n &&
        fflush(stdout) == 0)
        return EXIT_SUCCESS;
    return complain(verb, "cannot write the output");
}

enum time_style { FOR_PEOPLE, FOR_PROGRAMS };

static void append_time(struct strbuf *out, int64_t at_s, enum time_style style) {
    time_t at = at_s;
    struct tm tm = {0};
    char text[40];
    (void)gmtime_r(&at, &tm); /* out of range only for years beyond an int */
    size_t n = style == FOR_PEOPLE ? strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm)
                                   : strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    strbuf_append(out, text, n);
}

/* Returns whole days from now; negative for a time in the past. */
static long long days_left(int64_t at_s, int64_t now_s) {
    return (at_s - now_s) / SECONDS_PER_DAY;
}

/* Appends "2026-01-02 03:04:05 UTC (364 days left)". */
static void append_end(struct strbuf *out, int64_t at_s, int64_t now_s) {
    append_time(out, at_s, FOR_PEOPLE);
    if (at_s <= now_s)
        strbuf_appendf(out, " (EXPIRED %lld days ago)", -days_left(at_s, now_s));
    else
        strbuf_appendf(out, " (%lld days left)", days_left(at_s, now_s));
}

/* ---- values of options ---- */

struct hosts {
    struct str items[MAX_HOSTS];
    size_t count;
};

static void take_host(struct options *o, const char *text, struct hosts *hosts) {
    struct host host;
    struct err err;
    if (host_parse(str_of(text), &host, &err) != 0)
        options_fail(o, "%s", err.text);
    else if (hosts->count == MAX_HOSTS)
        options_fail(o, "more than %d hosts", MAX_HOSTS);
    else
        hosts->items[hosts->count++] = str_of(text);
}

static void take_days(struct options *o, const char *text, int least, int *ret) {
    int64_t days;
    if (str_to_i64(str_of(text), &days) && days >= least && days <= CERTIFICATE_DAYS_MAX)
        *ret = (int)days;
    else
        options_fail(o, "'%s' is not a number of days between %d and %d", text, least,
                     CERTIFICATE_DAYS_MAX);
}

/* upstream: RFC 5280, ub-common-name. */
static struct str take_name(struct options *o, const char *text) {
    struct str name = str_of(text);
    if (name.n == 0 || name.n > 64)
        options_fail(o, "--client-cn: '%.*s' is not between 1 and 64 bytes long", STR_ARG(name));
    return name;
}

/* ---- init ---- */

enum { INIT_DIR, INIT_HOST, INIT_CLIENT, INIT_DAYS, INIT_CA_DAYS, INIT_FORCE };

static const struct option_spec init_specs[] = {
    [INIT_DIR] = {"dir", 0, "DIR",
                  "where: ca.crt ca.key tls.crt tls.key client.crt client.key (required)"},
    [INIT_HOST] = {"host", 0, "NAME_OR_IP",
                   "how clients reach the server, may be repeated (default localhost, 127.0.0.1 "
                   "and ::1, or as before)"},
    [INIT_CLIENT] = {"client-cn", 0, "NAME",
                     "who the client is (default system:kube-scheduler, or as before)"},
    [INIT_DAYS] = {"days", 0, "N", "how long the certificates are valid (default 365)"},
    [INIT_CA_DAYS] = {"ca-days", 0, "N", "how long a new CA is valid (default 3650)"},
    [INIT_FORCE] = {"force", 0, NULL, "overwrite certificates that are not of this CA"},
};

const struct command certs_init_command = {
    .name = "certs init",
    .usage = "--dir DIR [--host NAME_OR_IP]... [options]",
    .about = "Makes a certificate authority (CA), and certificates for the server and for\n"
             "kube-scheduler. A CA that is there is kept, and only the certificates are renewed:\n"
             "kube-scheduler reads ca.crt once, at its start. Run it again whenever they are\n"
             "about to expire. Exit codes: 0 done, 1 failed, 2 wrong usage.",
    .example = "evenkeel certs init --dir /etc/evenkeel/certs --host evenkeel.kube-system.svc",
    .specs = init_specs,
    .spec_count = sizeof init_specs / sizeof init_specs[0],
};

static void end_cell(struct table *table, int64_t at_s, int64_t now_s) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    append_end(&text, at_s, now_s);
    table_cell(table, arena_str(table->arena, strbuf_str(&text)));
}

static bool describe_folder(const struct folder_request *request,
                            const struct folder_report *report, struct strbuf *out) {
    static const char *const headings[] = {"FILE", "WHAT", "VALID UNTIL"};
    const struct {
        const char *file, *what;
        int64_t not_after_s; /* 0: the file is a key */
    } rows[] = {
        {"ca.crt", report->ca_is_new ? "CA, new" : "CA, kept", report->ca_not_after_s},
        {"ca.key", report->ca_is_new ? "its key, keep it secret" : "its key, kept", 0},
        {"tls.crt", "server", report->leaf_not_after_s},
        {"tls.key", "its key", 0},
        {"client.crt", "client, for kube-scheduler", report->leaf_not_after_s},
        {"client.key", "its key", 0},
    };
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 1 << 16);
    struct table table;
    terminal_table_init(&table, headings, 3, &arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        table_cell(&table, str_of(rows[i].file));
        table_cell(&table, str_of(rows[i].what));
        if (rows[i].not_after_s != 0)
            end_cell(&table, rows[i].not_after_s, request->now_s);
        else
            table_cell(&table, STR(""));
    }
    bool good = table_render(&table, out);
    const char *dir = request->dir;
    strbuf_appendf(out,
                   "\nAll in %s. Next:\n"
                   "  evenkeel certs check --cert %s/tls.crt --key %s/tls.key --ca %s/ca.crt\n",
                   dir, dir, dir, dir);
    return good;
}

static void read_init(struct options *o, struct hosts *hosts, struct folder_request *request) {
    struct option_value v;
    while (options_next(o, &v)) {
        if (v.spec == &init_specs[INIT_DIR])
            request->dir = v.text;
        else if (v.spec == &init_specs[INIT_HOST])
            take_host(o, v.text, hosts);
        else if (v.spec == &init_specs[INIT_CLIENT])
            request->client_name = take_name(o, v.text);
        else if (v.spec == &init_specs[INIT_DAYS])
            take_days(o, v.text, 1, &request->days);
        else if (v.spec == &init_specs[INIT_CA_DAYS])
            take_days(o, v.text, 1, &request->ca_days);
        else if (v.spec == &init_specs[INIT_FORCE])
            request->force = true;
        else
            options_fail(o, "unexpected argument '%s'", v.text);
    }
    if (!o->stopped && request->dir == NULL)
        options_fail(o, "no folder; give --dir DIR");
    request->hosts = hosts->items;
    request->host_count = hosts->count;
}

static int run_init(int argc, char **argv) {
    struct options o;
    struct hosts hosts = {.count = 0};
    struct folder_request request = {.now_s = time(NULL)};
    options_init(&o, &certs_init_command, argc, argv);
    read_init(&o, &hosts, &request);
    if (o.stopped)
        return o.exit_status;
    struct folder_report report;
    struct err err;
    if (folder_init(&request, &report, &err) != 0)
        return complain("init", err.text);
    CLEANUP(strbuf_done) struct strbuf out = {0};
    if (!describe_folder(&request, &report, &out))
        return complain("init", "no memory for the output");
    return put_out("init", &out);
}

/* ---- show ---- */

enum { SHOW_OUTPUT };

static const struct option_spec show_specs[] = {
    [SHOW_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
};

const struct command certs_show_command = {
    .name = "certs show",
    .usage = "FILE... [options]",
    .about = "Shows what the certificates in PEM files say. Exit codes: 0 shown, 1 a file could\n"
             "not be read, 2 wrong usage.",
    .example = "evenkeel certs show /etc/evenkeel/certs/tls.crt",
    .specs = show_specs,
    .spec_count = sizeof show_specs / sizeof show_specs[0],
};

static void show_row(struct strbuf *out, const char *name, struct str value) {
    strbuf_appendf(out, "  %-12s", name);
    strbuf_append_str(out, value);
    strbuf_append_char(out, '\n');
}

static struct str usage_of(const struct certificate *c) {
    return c->is_ca                         ? STR("certificate authority")
           : c->for_server && c->for_client ? STR("server and client")
           : c->for_server                  ? STR("server")
           : c->for_client                  ? STR("client")
                                            : STR("neither server nor client");
}

static void show_certificate(const char *path, const struct certificate *c, int64_t now_s,
                             struct strbuf *out) {
    strbuf_appendf(out, "%s\n", path);
    show_row(out, "usage", usage_of(c));
    show_row(out, "subject", c->subject);
    show_row(out, "issuer", str_eq(c->issuer, c->subject) ? STR("itself") : c->issuer);
    strbuf_appendf(out, "  %-12s", "names");
    for (size_t i = 0; i < c->name_count; i++) {
        strbuf_append_str(out, i > 0 ? STR(", ") : STR(""));
        strbuf_append_str(out, c->names[i]);
    }
    strbuf_append_str(out, c->name_count == 0 ? STR("none\n") : STR("\n"));
    strbuf_appendf(out, "  %-12s", "not after");
    append_end(out, c->not_after_s, now_s);
    strbuf_append_char(out, '\n');
    show_row(out, "sha256", c->sha256);
}

static void put_time(struct json_writer *w, struct str key, int64_t at_s) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    append_time(&text, at_s, FOR_PROGRAMS);
    json_put_member(w, key, strbuf_str(&text));
}

static void put_certificate(const char *path, const struct certificate *c, int64_t now_s,
                            struct json_writer *w) {
    json_begin_object(w);
    json_put_member(w, STR("file"), str_of(path));
    json_put_member(w, STR("subject"), c->subject);
    json_put_member(w, STR("issuer"), c->issuer);
    json_key(w, STR("names"));
    json_begin_array(w);
    for (size_t i = 0; i < c->name_count; i++)
        json_put_string(w, c->names[i]);
    json_end_array(w);
    put_time(w, STR("notBefore"), c->not_before_s);
    put_time(w, STR("notAfter"), c->not_after_s);
    json_key(w, STR("daysLeft"));
    json_put_integer(w, days_left(c->not_after_s, now_s));
    json_key(w, STR("ca"));
    json_put_bool(w, c->is_ca);
    json_key(w, STR("server"));
    json_put_bool(w, c->for_server);
    json_key(w, STR("client"));
    json_put_bool(w, c->for_client);
    json_put_member(w, STR("sha256"), c->sha256);
    json_end_object(w);
}

/* Appends the certificates of one file as text, or to `json` when it is not NULL. */
static int show_file(const char *path, int64_t now_s, struct strbuf *out, struct json_writer *json,
                     struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, (size_t)4 * LIMIT_CONFIG_BYTES);
    CLEANUP(strbuf_done) struct strbuf pem = {0};
    struct certificate *all;
    size_t count;
    int r = file_read(path, LIMIT_CONFIG_BYTES, &pem, err);
    if (r != 0)
        return r;
    r = certificates_read(strbuf_str(&pem), &arena, &all, &count, err);
    if (r != 0)
        return err_wrap(err, "cannot show '%s'", path);
    for (size_t i = 0; i < count; i++) {
        if (json != NULL)
            put_certificate(path, &all[i], now_s, json);
        else
            show_certificate(path, &all[i], now_s, out);
    }
    return 0;
}

/* Shows each file of the arguments; a bad file does not stop the others. */
static int show_files(struct options *o, bool json) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    struct option_value v;
    int status = EXIT_SUCCESS;
    if (json)
        json_begin_array(&w);
    while (options_next(o, &v)) {
        struct err err;
        if (v.spec == NULL && show_file(v.text, time(NULL), &out, json ? &w : NULL, &err) != 0)
            status = complain("show", err.text);
    }
    if (json) {
        json_end_array(&w);
        strbuf_append_char(&out, '\n');
    }
    int written = put_out("show", &out);
    return written != EXIT_SUCCESS ? written : status;
}

static int run_show(int argc, char **argv) {
    struct options o;
    struct option_value v;
    bool json = false;
    int files = 0;
    options_init(&o, &certs_show_command, argc, argv);
    while (options_next(&o, &v)) {
        if (v.spec == &show_specs[SHOW_OUTPUT])
            json = options_output_is_json(&o, v.text);
        else
            files++;
    }
    if (!o.stopped && files == 0)
        options_fail(&o, "name at least one file");
    if (o.stopped)
        return o.exit_status;
    options_init(&o, &certs_show_command, argc, argv);
    return show_files(&o, json);
}

/* ---- check ---- */

enum { CHECK_CERT, CHECK_KEY, CHECK_CA, CHECK_HOST, CHECK_WITHIN };

static const struct option_spec check_specs[] = {
    [CHECK_CERT] = {"cert", 0, "FILE",
                    "the server's certificate, intermediates behind it (required)"},
    [CHECK_KEY] = {"key", 0, "FILE", "its private key (required)"},
    [CHECK_CA] = {"ca", 0, "FILE", "the CA bundle that clients trust"},
    [CHECK_HOST] = {"host", 0, "NAME_OR_IP", "how clients reach the server, may be repeated"},
    [CHECK_WITHIN] = {"within", 0, "DAYS",
                      "complain about certificates that expire sooner (default 14)"},
};

const struct command certs_check_command = {
    .name = "certs check",
    .usage = "--cert FILE --key FILE [options]",
    .about = "Checks that a server can use a certificate. Exit codes: 0 all is well, 1 something\n"
             "is wrong, with a list of the problems and their remedies, 2 wrong usage.",
    .example = "cd /etc/evenkeel/certs\n"
               "evenkeel certs check --cert tls.crt --key tls.key --ca ca.crt --host localhost",
    .specs = check_specs,
    .spec_count = sizeof check_specs / sizeof check_specs[0],
};

static void read_check(struct options *o, struct hosts *hosts, struct check_request *request) {
    struct option_value v;
    while (options_next(o, &v)) {
        if (v.spec == &check_specs[CHECK_CERT])
            request->certificate_path = v.text;
        else if (v.spec == &check_specs[CHECK_KEY])
            request->key_path = v.text;
        else if (v.spec == &check_specs[CHECK_CA])
            request->ca_path = v.text;
        else if (v.spec == &check_specs[CHECK_HOST])
            take_host(o, v.text, hosts);
        else if (v.spec == &check_specs[CHECK_WITHIN])
            take_days(o, v.text, 0, &request->within_days);
        else
            options_fail(o, "unexpected argument '%s'", v.text);
    }
    if (!o->stopped && (request->certificate_path == NULL || request->key_path == NULL))
        options_fail(o, "give --cert FILE and --key FILE");
    request->hosts = hosts->items;
    request->host_count = hosts->count;
}

static int run_check(int argc, char **argv) {
    struct options o;
    struct hosts hosts = {.count = 0};
    struct check_request request = {.within_days = CHECK_WITHIN_DAYS, .now_s = time(NULL)};
    options_init(&o, &certs_check_command, argc, argv);
    read_check(&o, &hosts, &request);
    if (o.stopped)
        return o.exit_status;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, (size_t)4 * LIMIT_CONFIG_BYTES);
    struct check_report report;
    struct err err;
    if (certs_check(&request, &arena, &report, &err) != 0)
        return complain("check", err.text);
    CLEANUP(strbuf_done) struct strbuf out = {0};
    for (size_t i = 0; i < report.count; i++)
        strbuf_appendf(&out, "%s\n", report.problems[i].p);
    if (report.count == 0) {
        strbuf_append_str(&out, STR("ok: valid until "));
        append_end(&out, report.not_after_s, request.now_s);
        strbuf_append_char(&out, '\n');
    }
    int written = put_out("check", &out);
    return written != EXIT_SUCCESS || report.count == 0 ? written : EXIT_FAILURE;
}

/* ---- all three ---- */

static const struct verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"init", "make a CA, and certificates for server and client", run_init},
    {"show", "what certificates say", run_show},
    {"check", "can a server use them?", run_check},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static int help(FILE *to, int status) {
    (void)fputs("Usage: evenkeel certs COMMAND [options]\n\n", to); /* help only, here and below */
    for (size_t i = 0; i < VERBS; i++)
        (void)fprintf(to, "  %-8s%s\n", verbs[i].name, verbs[i].summary);
    (void)fputs("\n'evenkeel certs COMMAND --help' explains a command.\n", to);
    if (fflush(to) == 0)
        return status;
    (void)fputs("evenkeel certs: cannot write to standard output\n", stderr);
    return EXIT_FAILURE;
}

int cmd_certs(int argc, char **argv) {
    struct str name = str_of(argc > 1 ? argv[1] : "");
    struct suggestion near = suggestion_for(name);
    if (str_eq(name, STR("--help")) || str_eq(name, STR("-h")) || str_eq(name, STR("help")))
        return help(stdout, EXIT_SUCCESS);
    for (size_t i = 0; i < VERBS; i++) {
        if (str_eq(name, str_of(verbs[i].name)))
            return verbs[i].run(argc - 1, argv + 1);
        suggestion_offer(&near, verbs[i].name);
    }
    if (name.n == 0)
        return help(stderr, EXIT_USAGE);
    (void)fprintf(stderr, "evenkeel certs: unknown command '%.*s'%s%s%s\n", STR_ARG(name),
                  near.best != NULL ? "; did you mean '" : "; there are init, show and check",
                  near.best != NULL ? near.best : "", near.best != NULL ? "'?" : "");
    return EXIT_USAGE;
}
