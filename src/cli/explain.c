#include "cli/commands.h"

#include "base/json_writer.h"
#include "cli/explanation.h"
#include "cli/options.h"
#include "cli/simulation.h"
#include "explain/subject.h"
#include "kube/client/client.h"
#include "model/kinds.h"

#include <errno.h>
#include <stdio.h>

enum { SPEC_SERVER, SPEC_TOKEN_FILE, SPEC_OUTPUT };

static const struct option_spec specs[] = {
    [SPEC_SERVER] = {"server", 0, "URL", "the daemon's ops listener; http://127.0.0.1:8080"},
    [SPEC_TOKEN_FILE] = {"token-file", 0, "FILE",
                         "the token that the daemon wants from others "
                         "than the machine it runs on"},
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
};

static const struct command explain_command = {
    .name = "explain",
    .usage = "(KIND[.GROUP] [NAMESPACE/]NAME | recent | what-if FILE) [options]",
    .about = "Asks a running daemon why.\n"
             "pod NAMESPACE/NAME: what was decided about one pod, in order: its admission, the\n"
             "     nodes that were dropped and for which reason, the scores of the best, its\n"
             "     binding. The same of any other object: 'managedcluster eu', or in full, as the\n"
             "     object has it: 'Placement.cluster.open-cluster-management.io fleet/web'.\n"
             "recent: the last decisions, the newest first.\n"
             "what-if: what would become of the pod in a file (YAML or JSON), on the cluster as\n"
             "     the daemon sees it now. Nothing is recorded or changed.\n"
             "Exit codes: 0 answered, 1 nothing is known or the daemon did not answer, 2 wrong\n"
             "usage.",
    .example = "kubectl -n evenkeel port-forward evenkeel-0 8080 &\n"
               "evenkeel explain pod shop/web-6d4cf56db6-x2x7q\n"
               "evenkeel explain recent -o json | jq '.decisions[].result'\n"
               "evenkeel explain what-if pod.yaml",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
};

struct request {
    const char *what, *about; /* "recent"; "pod", "shop/web"; "what-if", "pod.yaml" */
    struct subject subject;   /* of neither recent nor what-if */
    struct kube_access access;
    bool json;
};

static int fail(const char *why) {
    fprintf(stderr, "evenkeel explain: %s\n", why);
    return 1;
}

/* ---- asking ---- */

static void client_cleanup(struct kube_client **client) {
    if (*client != NULL)
        kube_client_free(*client);
}

static bool asks(const struct request *request, const char *what) {
    return str_eq(str_of(request->what), str_of(what));
}

static void print_path(const struct request *request, struct strbuf *out) {
    const struct subject *s = &request->subject;
    const struct subject pod = subject_pod(s->namespace, s->name);
    strbuf_append_str(out, STR("/explain"));
    if (asks(request, "recent") || asks(request, "what-if"))
        return;
    if (subject_eq(s, &pod))
        strbuf_appendf(out, "/pods/%.*s/%.*s", STR_ARG(s->namespace), STR_ARG(s->name));
    else
        strbuf_appendf(out, "?group=%.*s&kind=%.*s&namespace=%.*s&name=%.*s", STR_ARG(s->group),
                       STR_ARG(s->kind), STR_ARG(s->namespace), STR_ARG(s->name));
}

/* The path and, for what-if, the body. */
static int make_request(const struct request *request, struct arena *arena, const char **ret_path,
                        struct str *ret_body, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 4096};
    struct pod pod;
    *ret_body = (struct str){0};
    print_path(request, &path);
    *ret_path = arena_cstr(arena, strbuf_str(&path));
    if (*ret_path == NULL)
        return err_set(err, -ENOMEM, "no memory for the request");
    if (!asks(request, "what-if"))
        return 0;
    struct strbuf body = {0};
    int r = simulation_read_pod(request->about, arena, ret_body, &pod, err);
    if (r == 0) {
        struct json_writer w = {.out = &body};
        json_begin_object(&w);
        json_key(&w, STR("pod"));
        json_put_raw(&w, *ret_body);
        json_end_object(&w);
        *ret_body = arena_str(arena, strbuf_str(&body));
        if (strbuf_failed(&body) || arena_failed(arena))
            r = err_set(err, -ENOMEM, "no memory for the request");
    }
    strbuf_done(&body);
    return r;
}

static int ask(const struct request *request, struct arena *arena, struct strbuf *answer,
               struct err *err) {
    CLEANUP(client_cleanup) struct kube_client *client = NULL;
    const char *path;
    struct str body;
    int status;
    int r = make_request(request, arena, &path, &body, err);
    if (r == 0)
        r = kube_client_new(&request->access, NULL, &client, err);
    if (r == 0)
        r = kube_call(client, body.n > 0 ? "POST" : "GET", path, body, answer, &status, err);
    if (r != 0 || status == 200)
        return r;
    struct str why = str_trim(strbuf_str(answer));
    return err_set(err, -ENOENT, "%.*s%s", STR_ARG(why), why.n == 0 ? "no answer" : "");
}

/* ---- printing ---- */

static int print(const struct request *request, struct str answer, struct arena *arena,
                 struct err *err) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    int r = 0;
    if (request->json) {
        strbuf_append_str(&out, answer);
        strbuf_append_char(&out, '\n');
    } else if (asks(request, "recent")) {
        r = explanation_print_list(answer, arena, &out, err);
    } else {
        r = explanation_print(answer, arena, &out, err);
    }
    if (r == 0 && strbuf_failed(&out))
        r = err_set(err, -ENOMEM, "no memory for the answer");
    if (r == 0 && (fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0))
        r = err_set(err, -EIO, "cannot write to standard output");
    return r;
}

static int explain(const struct request *request) {
    CLEANUP(strbuf_done) struct strbuf answer = {.max = LIMIT_REQUEST_ARENA};
    struct arena arena;
    struct err err;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    int r = ask(request, &arena, &answer, &err);
    if (r == 0)
        r = print(request, strbuf_str(&answer), &arena, &err);
    arena_done(&arena);
    return r == 0 ? 0 : fail(err.text);
}

/* ---- the command line ---- */

/* Nothing that would have to be escaped in a path or a query. */
static bool is_plain(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
            return false;
    }
    return s.n > 0;
}

/* A kind that is not in the table of kinds is taken at its word. */
static bool is_kind(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= 'A' && c <= 'Z') &&
            (i == 0 || (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))))
            return false;
    }
    return s.n > 0;
}

/* "pod", "Pod", "pods", "statefulsets.apps", "Placement.cluster.open-cluster-management.io". */
static bool read_type(struct str text, struct subject *ret) {
    size_t dot = str_find(text, '.');
    struct str kind = {text.p, dot == SIZE_MAX ? text.n : dot};
    struct str group = dot == SIZE_MAX ? STR("") : (struct str){text.p + dot + 1, text.n - dot - 1};
    for (size_t i = 0; i < KIND_ROWS; i++) {
        const struct watched_kind *row = &watched_kinds[i];
        if ((str_eq_nocase(kind, str_of(row->kind)) ||
             str_eq_nocase(kind, str_of(row->resource))) &&
            (dot == SIZE_MAX || str_eq(group, str_of(row->group)))) {
            ret->group = str_of(row->group);
            ret->kind = str_of(row->kind);
            return true;
        }
    }
    ret->group = group;
    ret->kind = kind;
    return is_kind(kind) && (dot == SIZE_MAX || is_plain(group));
}

/* "NAMESPACE/NAME" or "NAME". */
static bool read_name(struct str text, struct subject *ret) {
    size_t slash = str_find(text, '/');
    bool has_namespace = slash != SIZE_MAX;
    ret->namespace = (struct str){text.p, has_namespace ? slash : 0};
    ret->name = has_namespace ? (struct str){text.p + slash + 1, text.n - slash - 1} : text;
    return is_plain(ret->name) && (!has_namespace || is_plain(ret->namespace));
}

static void check_subject(struct options *o, struct request *request) {
    struct subject *s = &request->subject;
    struct str about = str_of(request->about != NULL ? request->about : "");
    if (!read_type(str_of(request->what), s)) {
        options_fail(o, "explain what? pod NAMESPACE/NAME, recent, or what-if FILE; of another "
                        "kind Kind.group NAMESPACE/NAME, written as in the object");
        return;
    }
    bool good = read_name(about, s);
    const struct subject pod = subject_pod(s->namespace, s->name);
    if (subject_eq(s, &pod) && (!good || str_empty(s->namespace)))
        options_fail(o, "expected pod NAMESPACE/NAME");
    else if (!good)
        options_fail(o, "expected %s NAMESPACE/NAME, or NAME alone", request->what);
}

static void read_argument(struct options *o, struct request *request, const char *text) {
    if (request->what == NULL)
        request->what = text;
    else if (request->about == NULL)
        request->about = text;
    else
        options_fail(o, "unexpected argument '%s'", text);
}

static void check_arguments(struct options *o, struct request *request) {
    if (request->what == NULL)
        request->what = "";
    if (asks(request, "what-if")) {
        if (request->about == NULL)
            options_fail(o, "expected what-if FILE");
    } else if (asks(request, "recent")) {
        if (request->about != NULL)
            options_fail(o, "unexpected argument '%s'", request->about);
    } else {
        check_subject(o, request);
    }
}

int cmd_explain(int argc, char **argv) {
    struct options o;
    struct option_value v;
    struct request request = {.access = {.server = "http://127.0.0.1:8080", .source = "--server"}};
    options_init(&o, &explain_command, argc, argv);
    while (options_next(&o, &v)) {
        if (v.spec == &specs[SPEC_SERVER])
            request.access.server = v.text;
        else if (v.spec == &specs[SPEC_TOKEN_FILE])
            request.access.token_file = v.text;
        else if (v.spec == &specs[SPEC_OUTPUT])
            request.json = options_output_is_json(&o, v.text);
        else
            read_argument(&o, &request, v.text);
    }
    if (!o.stopped)
        check_arguments(&o, &request);
    return o.stopped ? o.exit_status : explain(&request);
}
