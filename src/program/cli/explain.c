#include "cli/commands.h"

#include "base/duration.h"
#include "base/json_writer.h"
#include "cli/explain_placement.h"
#include "cli/explain_pod.h"
#include "cli/explanation.h"
#include "cli/merged.h"
#include "cli/options.h"
#include "cli/placement_print.h"
#include "explain/subject.h"
#include "model/kinds.h"
#include "model/names.h"
#include "whatif/scheduler_profile.h"
#include "whatif/simulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SPEC_SERVER,
    SPEC_TOKEN_FILE,
    SPEC_KUBECONFIG,
    SPEC_CONTEXT,
    SPEC_SCHEDULER,
    SPEC_OUTPUT,
    SPEC_POD,
    SPEC_NO_API_SERVER,
    SPEC_TIMEOUT,
    SPEC_CALLED,
    SPEC_ANSWER
};

static const struct option_spec specs[] = {
    [SPEC_SERVER] =
        {"server", 0, "URL",
         "the daemon's ops listener; http://127.0.0.1:8080. If there are several replicas, give "
         "--server once for each, or give the name of their headless Service"},
    [SPEC_TOKEN_FILE] = {"token-file", 0, "FILE",
                         "the token that the daemon wants from other machines"},
    [SPEC_KUBECONFIG] = {"kubeconfig", 0, "FILE",
                         "where the pod itself is read; default: as kubectl, or in a cluster its "
                         "API server"},
    [SPEC_CONTEXT] = {"context", 0, "NAME", "of the kubeconfig; default: its current one"},
    [SPEC_SCHEDULER] = {"kube-scheduler-config", 0, "FILE",
                        "kube-scheduler's configuration: addedAffinity and the ignored resources "
                        "of the profile that the pod names, and the resources that extenders "
                        "manage; notJudged names the parts that are not read"},
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
    [SPEC_POD] = {"pod", 0, "FILE",
                  "the pod as the API server has it; the API server is not asked then"},
    [SPEC_NO_API_SERVER] = {"no-api-server", 0, NULL, "do not read the pod itself"},
    [SPEC_TIMEOUT] = {"timeout", 0, "DURATION",
                      "for the API server's answer about the pod, once it has accepted the "
                      "connection: 10s. If it accepts no connection, the limit is 1.5s"},
    [SPEC_CALLED] = {"called", 0, "NAME",
                     "the first replica's name in the answer, in place of its URL"},
    [SPEC_ANSWER] = {"answer", 0, "NAME=FILE",
                     "the output of 'explain -o json' for another replica, whose name in the "
                     "answer is NAME; an empty FILE: the replica knows nothing; no FILE: the "
                     "replica did not answer. May be repeated"},
};

static const struct option_heading headings[] = {
    {SPEC_POD, "For programs that ask the API server and the replicas themselves"},
    {0, NULL},
};

const struct command explain_command = {
    .name = "explain",
    .usage = "([pod] NAMESPACE/NAME | placement NAMESPACE/NAME | KIND[.GROUP] [NAMESPACE/]NAME |\n"
             "       recent | what-if FILE)\n"
             "       [options]",
    .about =
        "Asks a running daemon, or all its replicas, for the reasons of decisions.\n"
        "NAMESPACE/NAME: why a pod is Pending, in the first line, from its condition and\n"
        "     from how it is judged now; and what was decided about it, in order: its\n"
        "     admission, the nodes that were dropped and for which reason, the scores of\n"
        "     the best, its binding. Decisions of any other object: 'managedcluster eu', or\n"
        "     in full, as the object has it: 'Widget.example.com fleet/web'.\n"
        "placement NAMESPACE/NAME: which clusters a Placement of Open Cluster Management has\n"
        "     and should have, by what is known now, as 'simulate --placement' prints it; and\n"
        "     where Evenkeel decides it, what it waits for, and its last moves: when, which\n"
        "     clusters, and why. The replica that leads knows these: name all with --server.\n"
        "recent: the last decisions, the newest first.\n"
        "what-if: what would become of the pod in a file (YAML or JSON), on the cluster as\n"
        "     the daemon sees it now. Nothing is recorded or changed.\n"
        "Exit codes: 0 answered, 1 nothing is known or the daemon did not answer, 2 wrong\n"
        "usage.",
    .example = "kubectl -n evenkeel port-forward deployment/evenkeel-webhook 8080 &\n"
               "evenkeel explain shop/web-6d4cf56db6-x2x7q\n"
               "evenkeel explain placement fleet/web\n"
               "evenkeel explain recent -o json | jq '.decisions[].result'\n"
               "evenkeel explain what-if pod.yaml",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
    .headings = headings,
};

struct request {
    const char *what, *about; /* "recent", NULL; or "pod", "shop/web"; or "what-if", "pod.yaml" */
    struct subject subject;   /* not set for recent and what-if */
    const char *servers[LIMIT_EXPLAINED_REPLICAS];
    uint32_t server_count;
    const char *answers[LIMIT_EXPLAINED_REPLICAS]; /* "NAME=FILE" */
    uint32_t answer_count;
    const char *pod;    /* a file with the pod; NULL: the pod is read from the API server */
    const char *called; /* name of the server in the output; NULL: its URL */
    const char *token_file, *kubeconfig, *context;
    const char *scheduler; /* path of kube-scheduler's configuration; or NULL */
    int64_t timeout_ms;    /* time for reading the pod */
    bool no_api_server, json;
};

static int fail(const char *why) {
    (void)answer_fail("explain", why); /* the caller has the status */
    return 1;
}

/* ---- what to ask ---- */

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

static int no_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory for the request");
}

static void put_texts(struct json_writer *w, struct str key, const struct str *texts,
                      uint32_t count) {
    if (count == 0)
        return;
    json_key(w, key);
    json_begin_array(w);
    for (uint32_t i = 0; i < count; i++)
        json_put_text(w, texts[i]);
    json_end_array(w);
}

/* Puts the parts of kube-scheduler's configuration that the daemon needs. */
static void put_scheduler(struct json_writer *w, const struct scheduler_profile_parts *parts) {
    if (!str_empty(parts->added_affinity)) {
        json_key(w, STR("addedAffinity"));
        json_put_raw(w, parts->added_affinity);
    }
    put_texts(w, STR("ignoredResources"), parts->ignored.names, parts->ignored.name_count);
    put_texts(w, STR("ignoredResourceGroups"), parts->ignored.groups, parts->ignored.group_count);
    if (!str_empty(parts->not_read)) {
        json_key(w, STR("notRead"));
        json_put_text(w, parts->not_read);
    }
    if (!str_empty(parts->old_version))
        fprintf(stderr, "evenkeel explain: '%.*s' ended with Kubernetes %.*s; write %s\n",
                STR_ARG(parts->old_version), STR_ARG(parts->ended_with), SCHEDULER_CONFIG_API);
}

/* Makes {"pod": POD, "addedAffinity": ...}. `file` is the user's file from which the pod is made;
 * NULL: no file. */
static int make_body(const struct request *request, struct str pod, const struct pod_file *file,
                     struct arena *arena, struct str *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf body = {0};
    struct json_writer w = {.out = &body};
    struct scheduler_profile_parts parts = {.not_read = STR("")};
    int r = request->scheduler == NULL
                ? 0
                : scheduler_profile_read(request->scheduler, pod, arena, &parts, err);
    if (r != 0)
        return r;
    json_begin_object(&w);
    json_key(&w, STR("pod"));
    json_put_raw(&w, pod);
    if (file != NULL && file->is_workload) {
        json_key(&w, STR("workload"));
        json_put_raw(&w, file->json);
        json_put_member(&w, STR("podSpecPath"), str_of(file->spec));
    }
    put_scheduler(&w, &parts);
    json_end_object(&w);
    *ret = arena_str(arena, strbuf_str(&body));
    return strbuf_failed(&body) || arena_failed(arena) ? no_memory(err) : 0;
}

/* ---- the pod itself ---- */

struct subject_state {
    struct str text;      /* the pod as the API server has it; "": it was not read */
    const char *not_read; /* why it was not read; NULL: it was read, or no server was asked */
    const char *from;     /* the API server that was asked */
};

/* ---- answers ---- */

/* Asks replica after replica until one answers a what-if. Returns its index, or the count. */
static uint32_t ask_what_if(struct replicas *all, const struct request *request, struct str body) {
    const struct replica_question question = {
        .method = "POST", .path = "/explain", .body = body, .token_file = request->token_file};
    uint32_t i = 0;
    for (; i < all->count; i++) {
        replicas_ask(all, i, 1, &question);
        if (all->items[i].status == 200)
            break;
    }
    return i;
}

static int fail_of(const struct replica *r, struct err *err) {
    struct str why = str_trim(strbuf_str(&r->body));
    if (r->status == 0)
        return err_set(err, -EIO, "%s: %s", r->server, r->error.text);
    return err_set(err, -ENOENT, "%.*s%s", STR_ARG(why), why.n == 0 ? "no answer" : "");
}

static int answer_what_if(const struct request *request, struct replicas *all, struct arena *arena,
                          struct strbuf *out, struct err *err) {
    struct pod pod;
    struct pod_file file;
    struct str body;
    int r = simulation_read_only_pod(request->about, arena, &file, &pod, err);
    if (r == 0)
        r = make_body(request, file.pod, &file, arena, &body, err);
    if (r != 0)
        return r;
    uint32_t at = ask_what_if(all, request, body);
    if (at == all->count)
        return fail_of(&all->items[0], err);
    strbuf_append_str(out, strbuf_str(&all->items[at].body));
    return 0;
}

/* Asks one of the replicas that have just answered for a what-if of the pod as it is now. Sets *ret
 * in the arena; "" if no replica answered. */
static int ask_now(const struct request *request, const struct replicas *asked, struct str pod,
                   struct arena *arena, struct str *ret, struct err *err) {
    const char *servers[LIMIT_EXPLAINED_REPLICAS];
    uint32_t count = 0;
    struct replicas all;
    struct str body;
    struct err unheard;
    *ret = STR("");
    for (uint32_t i = 0; i < asked->count; i++)
        if (asked->items[i].status != 0)
            servers[count++] = asked->items[i].server;
    int r = pod.n == 0 ? 0 : make_body(request, pod, NULL, arena, &body, err);
    if (r != 0 || pod.n == 0)
        return r;
    if (replicas_open(&all, servers, count, arena, &unheard) == 0) {
        uint32_t at = ask_what_if(&all, request, body);
        if (at < all.count)
            *ret = arena_str(arena, strbuf_str(&all.items[at].body));
    }
    replicas_done(&all);
    return 0;
}

/* Fails with one replica's reason, and the names of the replicas that did not answer, because they
 * may know more. */
static int fail_of_all(const struct replicas *all, const struct replica *why, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES};
    int r = fail_of(why, err);
    strbuf_append_str(&text, str_of(err->text));
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].status == 0 && &all->items[i] != why)
            strbuf_appendf(&text, "; no answer from %s", all->items[i].server);
    return err_set(err, r, "%.*s", STR_ARG(strbuf_str(&text)));
}

/* Fails if no replica has a decision, and the object's present state is not known either. */
static int check_known(const struct merging *merging, uint32_t decisions, struct err *err) {
    const struct replicas *all = merging->replicas;
    const struct replica *why = NULL;
    if (decisions > 0 || merging->now.n > 0)
        return 0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i].status == 200)
            return 0; /* an empty list of recent decisions */
        if (why == NULL || all->items[i].status > why->status)
            why = &all->items[i];
    }
    int r = fail_of_all(all, why, err);
    return merging->pod_not_read == NULL
               ? r
               : err_wrap(err, "the pod itself was not read (%s)", merging->pod_not_read);
}

static int add_answers(const struct request *request, struct replicas *all, struct arena *arena,
                       struct err *err) {
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < request->answer_count; i++) {
        struct str text = str_of(request->answers[i]);
        size_t equals = str_find(text, '=');
        const char *name = arena_cstr(arena, (struct str){text.p, equals});
        r = name == NULL ? no_memory(err)
                         : replicas_add_answer(all, name, text.p + equals + 1, err);
    }
    return r;
}

/* Appends the present decision about the Placement, and the recorded decisions, which are about
 * reviews. */
static int answer_placement(const struct request *request, const struct merging *merging,
                            struct arena *arena, struct strbuf *out, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf recorded = {.max = LIMIT_REQUEST_ARENA};
    const struct replicas *all = merging->replicas;
    struct explained_placement best;
    uint32_t decisions = 0;
    int r = explained_placement_ask(request->servers, request->server_count, request->token_file,
                                    &request->subject, arena, &best, err);
    if (r == 0 && best.object.n > 0 && request->called != NULL && request->server_count == 1)
        best.server = request->called;
    for (uint32_t i = all->count - request->answer_count; r == 0 && i < all->count; i++)
        if (all->items[i].status == 200)
            r = explained_placement_consider(&best, all->items[i].server,
                                             strbuf_str(&all->items[i].body), err);
    if (r == 0)
        r = merged_print(merging, arena, &recorded, &decisions, err);
    if (r == 0 && best.object.n == 0 && decisions == 0)
        return err_set(err, -ENOENT, "%s", best.why);
    return r == 0 ? explained_placement_merge(&best, strbuf_str(&recorded), arena, out, err) : r;
}

/* ---- decisions before the pod ---- */

/* Decisions that are printed early, because the API server answers slowly. */
struct early {
    const struct request *request;
    const struct replicas *all;
    const char *from; /* the API server that was asked */
    bool is_printed;  /* decisions are on stdout */
};

struct printing {
    const struct request *request;
    bool is_late; /* the decisions have been printed */
};

static answer_print_fn print_answer;

/* Prints the decisions, if there are any and they are for people. Only stdout can fail, and the
 * end of the command reports that. */
static bool print_decisions(const struct early *early, const char *why) {
    CLEANUP(strbuf_done) struct strbuf answer = {.max = LIMIT_REQUEST_ARENA};
    const struct request *request = early->request;
    const struct printing printing = {.request = request};
    const struct created_pod unknown = {.is_known = false};
    const struct merging merging = {.replicas = early->all,
                                    .now = STR(""),
                                    .pod_from = early->from,
                                    .pod_not_read = why,
                                    .pod = &unknown};
    struct arena arena;
    struct err err;
    uint32_t decisions = 0;
    if (request->json || request->answer_count > 0 || request->called != NULL)
        return false;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    const bool done = merged_print(&merging, &arena, &answer, &decisions, &err) == 0 &&
                      decisions > 0 &&
                      answer_write("explain", &answer, print_answer, &printing, "") == EXIT_SUCCESS;
    arena_done(&arena);
    return done;
}

static void print_early(void *ctx, const char *why) {
    struct early *early = ctx;
    CLEANUP(strbuf_done) struct strbuf limit = {.max = 64};
    early->is_printed = print_decisions(early, why);
    duration_format_ms(early->request->timeout_ms, &limit);
    fprintf(stderr, "evenkeel explain: waiting for the pod from %s, %.*s at most (--timeout)\n",
            early->from, STR_ARG(strbuf_str(&limit)));
}

static struct subject_state read_state(const struct request *request, struct early *early,
                                       struct arena *arena) {
    const struct explained_pod_wait wait = {
        .timeout_ms = request->timeout_ms, .on_slow = print_early, .ctx = early};
    const struct subject pod = subject_pod(request->subject.namespace, request->subject.name);
    struct subject_state state = {0};
    struct kube_access access;
    struct pod unused;
    struct pod_file file;
    struct err err = {0};
    if (request->no_api_server || !subject_eq(&request->subject, &pod))
        return state;
    int r = request->pod != NULL ? 0
                                 : kube_access_of_command(request->kubeconfig, request->context,
                                                          arena, &access, &err);
    if (request->pod != NULL) {
        state.from = request->pod;
        r = simulation_read_only_pod(request->pod, arena, &file, &unused, &err);
        state.text = r == 0 ? file.pod : STR("");
    } else if (r == 0) {
        early->from = state.from = access.server;
        r = explained_pod_read(&access, &request->subject, &wait, arena, &state.text, &err);
    }
    if (r != 0)
        state.not_read = arena_cstr(arena, str_of(err.text));
    return state;
}

static int answer_decisions(const struct request *request, struct replicas *all,
                            struct arena *arena, struct strbuf *out, bool *ret_late,
                            struct err *err) {
    struct early early = {.request = request, .all = all};
    CLEANUP(strbuf_done) struct strbuf path = {.max = 4096};
    uint32_t decisions = 0;
    print_path(request, &path);
    strbuf_append_char(&path, '\0');
    if (strbuf_failed(&path))
        return no_memory(err);
    const struct replica_question question = {
        .method = "GET", .path = path.p, .token_file = request->token_file};
    replicas_ask(all, 0, all->count, &question);
    const struct subject_state state = read_state(request, &early, arena);
    struct created_pod pod;
    struct str now;
    *ret_late = early.is_printed;
    int r = created_pod_read(state.text, arena, &pod, err);
    if (r == 0)
        r = ask_now(request, all, state.text, arena, &now, err);
    if (request->called != NULL)
        all->items[0].server = request->called;
    if (r == 0)
        r = add_answers(request, all, arena, err);
    if (r != 0)
        return r;
    const struct merging merging = {.replicas = all,
                                    .now = now,
                                    .pod_from = state.from,
                                    .pod_not_read = state.not_read,
                                    .pod = &pod,
                                    .newest_first = asks(request, "recent")};
    if (explained_is_placement(&request->subject))
        return answer_placement(request, &merging, arena, out, err);
    r = merged_print(&merging, arena, out, &decisions, err);
    return r == 0 ? check_known(&merging, decisions, err) : r;
}

/* ---- printing ---- */

static void print_answer(const struct value *root, struct strbuf *out) {
    const struct printing *printing = root->of->ctx;
    const struct request *request = printing->request;
    if (asks(request, "recent")) {
        explanation_print_list(root, out);
        return;
    }
    if (printing->is_late) {
        explanation_print_late(root, &request->subject, out);
        return;
    }
    if (explained_is_placement(&request->subject) && value_holds(value_at(root, "placement")))
        placement_print(root, out);
    explanation_print(root, &request->subject, out);
}

static int explain(const struct request *request) {
    CLEANUP(strbuf_done) struct strbuf answer = {.max = LIMIT_REQUEST_ARENA};
    struct printing printing = {.request = request};
    struct replicas all;
    struct arena arena;
    struct err err;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    int r = replicas_open(&all, request->servers, request->server_count, &arena, &err);
    if (r == 0)
        r = asks(request, "what-if")
                ? answer_what_if(request, &all, &arena, &answer, &err)
                : answer_decisions(request, &all, &arena, &answer, &printing.is_late, &err);
    replicas_done(&all);
    arena_done(&arena);
    return r != 0 ? fail(err.text)
                  : answer_write("explain", &answer, request->json ? NULL : print_answer, &printing,
                                 "");
}

/* ---- the command line ---- */

/* Are there only characters that need no escaping in a path or a query? */
static bool is_plain(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
            return false;
    }
    return s.n > 0;
}

/* Can this text be the name of a kind? The kind need not be in the table of kinds. */
static bool is_kind(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= 'A' && c <= 'Z') &&
            (i == 0 || (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))))
            return false;
    }
    return s.n > 0;
}

/* Reads "pod", "Pod", "pods", "statefulsets.apps",
 * "Placement.cluster.open-cluster-management.io". */
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

/* Reads "NAMESPACE/NAME" or "NAME". */
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
    const bool is_namespaced = subject_eq(s, &pod) || explained_is_placement(s);
    if (is_namespaced && (!good || str_empty(s->namespace)))
        options_fail(o, "expected %s NAMESPACE/NAME", request->what);
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

static void add_server(struct options *o, struct request *request, const char *url) {
    if (request->server_count == LIMIT_EXPLAINED_REPLICAS)
        options_fail(o, "--server more than %d times", LIMIT_EXPLAINED_REPLICAS);
    else
        request->servers[request->server_count++] = url;
}

static void add_answer(struct options *o, struct request *request, const char *text) {
    size_t equals = str_find(str_of(text), '=');
    if (equals == SIZE_MAX || equals == 0)
        options_fail(o, "--answer '%s': expected NAME=FILE", text);
    else if (request->answer_count == LIMIT_EXPLAINED_REPLICAS)
        options_fail(o, "--answer more than %d times", LIMIT_EXPLAINED_REPLICAS);
    else
        request->answers[request->answer_count++] = text;
}

static void check_arguments(struct options *o, struct request *request) {
    if (request->what == NULL)
        request->what = "";
    if (request->server_count == 0)
        request->servers[request->server_count++] = "http://127.0.0.1:8080";
    if (request->about == NULL && str_find(str_of(request->what), '/') != SIZE_MAX) {
        request->about = request->what;
        request->what = "pod";
    }
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
    struct request request = {.timeout_ms = EXPLAINED_POD_MS};
    options_init(&o, &explain_command, argc, argv);
    while (options_next(&o, &v)) {
        if (v.spec == &specs[SPEC_SERVER])
            add_server(&o, &request, v.text);
        else if (v.spec == &specs[SPEC_TOKEN_FILE])
            request.token_file = v.text;
        else if (v.spec == &specs[SPEC_POD])
            request.pod = v.text;
        else if (v.spec == &specs[SPEC_CALLED])
            request.called = v.text;
        else if (v.spec == &specs[SPEC_ANSWER])
            add_answer(&o, &request, v.text);
        else if (v.spec == &specs[SPEC_KUBECONFIG])
            request.kubeconfig = v.text;
        else if (v.spec == &specs[SPEC_CONTEXT])
            request.context = v.text;
        else if (v.spec == &specs[SPEC_NO_API_SERVER])
            request.no_api_server = true;
        else if (v.spec == &specs[SPEC_TIMEOUT])
            options_read_duration(&o, "timeout", v.text, EXPLAINED_POD_MOST_S, &request.timeout_ms);
        else if (v.spec == &specs[SPEC_SCHEDULER])
            request.scheduler = v.text;
        else if (v.spec == &specs[SPEC_OUTPUT])
            request.json = options_output_is_json(&o, v.text);
        else
            read_argument(&o, &request, v.text);
    }
    if (!o.stopped)
        check_arguments(&o, &request);
    return o.stopped ? o.exit_status : explain(&request);
}
