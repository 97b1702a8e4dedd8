#include "cli/commands.h"

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/suggest.h"
#include "candidates/list.h"
#include "cli/answer_table.h"
#include "cli/options.h"
#include "cli/workloads.h"
#include "daemon/servers.h"
#include "model/karmada.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPEC_BY, SPEC_MAX_SKEW, SPEC_SERVER, SPEC_TOKEN_FILE, SPEC_OUTPUT, SPEC_CONFIG };

static const struct option_spec specs[] = {
    [SPEC_BY] = {"by", 0, "KEY",
                 "label that nodes have, or zone, region or hostname; with WHAT several times"},
    [SPEC_MAX_SKEW] = {"max-skew", 0, "N",
                       "exit with 3 if a skew is larger and could be smaller, or unknown"},
    [SPEC_SERVER] = {"server", 0, "URL", "the ops listener of a daemon; http://127.0.0.1:8080"},
    [SPEC_TOKEN_FILE] = {"token-file", 0, "FILE",
                         "the token that the daemon wants from other machines"},
    [SPEC_OUTPUT] = {"output", 'o', "FORMAT", "table (default) or json"},
    [SPEC_CONFIG] = {"config", 0, "FILE", "EvenkeelConfiguration that says where the state is"},
};

static void list_kinds(struct strbuf *out) {
    strbuf_appendf(out, "\nWHAT, to list what workloads are spread over, is one of:\n");
    for (size_t i = 0; i < CANDIDATE_KINDS; i++)
        strbuf_appendf(out, "  %-10s objects of kind %s\n", candidate_kinds[i].name,
                       candidate_kinds[i].kinds);
}

const struct command topology_command = {
    .name = "topology",
    .usage = "[NAMESPACE/NAME | WHAT] [--state FILE|DIR | --kubeconfig FILE | --server URL]\n"
             "       [options]",
    .about =
        "Shows how even workloads are, the worst first, or one of them: from files, from what\n"
        "an API server has now, or else from a running daemon. Nothing is changed.\n"
        "\n"
        "SKEW is the most pods in a domain less the fewest, of the domains where the\n"
        "workload's pods may run. BEST is the smallest skew that these pods could have\n"
        "there, as far as node selectors, required node affinity, taints, cordons and bound\n"
        "volumes go; volumes are known from files, and to daemons that admit pods.\n"
        "STATE: even (skew at most 1), unavoidable (more, and as good as it can be), uneven\n"
        "(it could be less), unknown. '!': a domain where none of its pods may run (now).\n"
        "\n"
        "Exit codes: 0 shown, 1 something could not be read or there is no such workload,\n"
        "2 wrong usage, 3 see --max-skew.",
    .list = list_kinds,
    .example = "kubectl get nodes,pods -A -o json > state.json\n"
               "evenkeel topology --state state.json\n"
               "evenkeel topology shop/web --state state.json --by kubernetes.io/hostname\n"
               "evenkeel topology --kubeconfig ~/.kube/config --max-skew 2 -o json\n"
               "evenkeel topology nodes --state state.json --by kubernetes.io/arch\n"
               "evenkeel topology clusters --hub-kubeconfig hub.yaml --by region",
    .specs = specs,
    .spec_count = sizeof specs / sizeof specs[0],
    .configuration_flags = true,
    .first_flags = "state kubeconfig context in-cluster hub-kubeconfig hub-context hub-in-cluster",
};

enum { KEYS_MAX = 8, WAIT_MS = 30000 };

struct request {
    const struct candidate_kind *kind; /* NULL: reports evenness instead */
    struct workloads_request workloads;
    const char *keys[KEYS_MAX];
    uint32_t key_count;
    const char *config;
    bool json;
};

static int fail(const char *why) {
    return answer_fail("topology", why);
}

/* ---- reading ---- */

static int list_from_server(const struct configuration *c, enum server_role role,
                            struct informer *informer, uint64_t without, struct err *err) {
    struct servers *servers = NULL;
    int r = servers_new(c, &servers, err);
    if (r == 0)
        r = servers_open(servers, role, err);
    const struct informer_watch watch = {
        .client = r == 0 ? servers_client(servers, role) : NULL,
        .seed = clock_seed(),
        .without = without,
    };
    if (r == 0)
        r = informer_watch(informer, &watch, err);
    if (r == 0 && !informer_wait(informer, WAIT_MS))
        r = err_set(err, -ETIMEDOUT, "the API server did not list them; the log says why");
    informer_stop(informer);
    servers_free(servers);
    return r;
}

static int read_candidates(const struct configuration *c, const struct candidate_kind *kind,
                           struct candidate_list *list, struct err *err) {
    uint64_t without;
    struct informer *informer = candidate_list_informer(list, &without);
    enum server_role role = server_of(c, &watched_kinds[kind->row]);
    return role == SERVER_CLUSTER && c->state.path_count > 0
               ? candidate_list_load(list, c->state.paths, c->state.path_count, err)
               : list_from_server(c, role, informer, without, err);
}

/* The candidates to print, sorted by name. */
struct candidates_shown {
    const struct candidate_kind *kind;
    const char *const *keys;
    uint32_t key_count;
    struct listed_candidate *items; /* in the arena */
    uint32_t count;
};

/* Replaces "zone" by the well-known label of nodes, unless a candidate has a label "zone". */
static void use_full_keys(const struct candidates_shown *l, const char *keys[KEYS_MAX]) {
    for (uint32_t k = 0; k < l->key_count; k++) {
        const char *full = workloads_full_key(keys[k]);
        struct str value;
        for (uint32_t i = 0; full != NULL && i < l->count; i++)
            if (labels_lookup(&l->items[i].candidate.labels, str_of(keys[k]), &value))
                full = NULL;
        if (full != NULL)
            keys[k] = full;
    }
}

/* Finds the value of a key. If a Karmada cluster has no label "region", its field of that name
 * counts; the field for "cloud" is called provider. */
static bool find_domain(const struct listed_candidate *listed, const char *key, struct str *ret) {
    char field[64];
    if (labels_lookup(&listed->candidate.labels, str_of(key), ret))
        return true;
    if (listed->kind != KIND_KARMADA_CLUSTER)
        return false;
    (void)snprintf(field, sizeof field, FIELD_PREFIX "%s", /* a cut name matches no field */
                   strcmp(key, "cloud") == 0 ? "provider" : key);
    return labels_lookup(&listed->candidate.labels, str_of(field), ret);
}

static bool have_kinds(const struct candidates_shown *l) {
    for (uint32_t i = 1; i < l->count; i++)
        if (l->items[i].kind != l->items[0].kind)
            return true;
    return false;
}

static const char *kind_of(const struct listed_candidate *listed) {
    return watched_kinds[listed->kind].kind;
}

/* ---- printing ---- */

static void write_candidate(struct json_writer *w, const struct candidates_shown *l,
                            const struct listed_candidate *listed) {
    const struct candidate *candidate = &listed->candidate;
    json_begin_object(w);
    json_put_member(w, STR("name"), candidate->name);
    json_put_member(w, STR("kind"), str_of(kind_of(listed)));
    json_key(w, STR("domains"));
    json_begin_object(w);
    for (uint32_t k = 0; k < l->key_count; k++) {
        struct str value;
        if (find_domain(listed, l->keys[k], &value))
            json_put_member(w, str_of(l->keys[k]), value);
    }
    json_end_object(w);
    json_key(w, STR("labels"));
    json_begin_object(w);
    for (uint32_t i = 0; i < candidate->labels.count; i++)
        json_put_member(w, candidate->labels.items[i].key, candidate->labels.items[i].value);
    json_end_object(w);
    json_key(w, STR("taints"));
    json_begin_array(w);
    for (uint32_t i = 0; i < candidate->taint_count; i++) {
        json_begin_object(w);
        json_put_member(w, STR("key"), candidate->taints[i].key);
        json_put_member(w, STR("value"), candidate->taints[i].value);
        json_put_member(w, STR("effect"), candidate->taints[i].effect);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void print_json(const struct candidates_shown *l, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("kind"),
                    str_of(l->count > 0 && !have_kinds(l) ? kind_of(&l->items[0])
                                                          : watched_kinds[l->kind->row].kind));
    json_key(&w, str_of(l->kind->name));
    json_begin_array(&w);
    for (uint32_t i = 0; i < l->count; i++)
        write_candidate(&w, l, &l->items[i]);
    json_end_array(&w);
    json_end_object(&w);
}

/* Returns the candidate's domain; `ctx` is the topology key. */
static struct str cell_key(const struct value *candidate, const void *ctx) {
    const struct value *domain =
        value_member(value_as(candidate, "domains", JSON_OBJECT), str_of(ctx));
    return domain->kind == JSON_NULL ? STR("-") : value_text(domain);
}

static struct str cell_taints(const struct value *candidate, const void *ctx) {
    (void)ctx;
    return value_join(value_as(candidate, "taints", JSON_ARRAY), "{~key}[={value}]:{~effect}",
                      "\n");
}

static void print_table(const struct value *root, struct strbuf *out) {
    const struct candidates_shown *l = root->of->ctx;
    struct answer_column columns[KEYS_MAX + 3] = {COLUMN("NAME", "{name}")};
    uint32_t count = 1;
    if (have_kinds(l))
        columns[count++] = (struct answer_column)COLUMN("KIND", "{kind}");
    for (uint32_t k = 0; k < l->key_count; k++)
        columns[count++] = (struct answer_column)CELL(l->keys[k], cell_key, l->keys[k]);
    columns[count++] = (struct answer_column)CELL("TAINTS", cell_taints, NULL);
    const struct answer_table table = {.columns = columns, .count = count, .is_first = true};
    answer_table_put(&table, value_as(root, l->kind->name, JSON_ARRAY), out);
}

static int print(const struct request *request, const struct candidates_shown *l) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    if (l->count == 0)
        fprintf(stderr, "evenkeel topology: no %s: there is no object of kind %s\n", l->kind->name,
                l->kind->kinds);
    print_json(l, &json);
    return answer_write("topology", &json, request->json ? NULL : print_table, l, "");
}

/* ---- the command ---- */

static int list_candidates(const struct request *request, const struct configuration *c,
                           struct arena *arena) {
    const char *keys[KEYS_MAX];
    struct candidates_shown shown = {
        .kind = request->kind, .keys = keys, .key_count = request->key_count};
    struct candidate_list *list = NULL;
    struct err err;
    memcpy(keys, request->keys, sizeof keys);
    int r = candidate_list_new(request->kind, &list, &err);
    if (r == 0)
        r = read_candidates(c, request->kind, list, &err);
    if (r == 0 && (r = candidate_list_describe(list, arena, &shown.items, &shown.count)) != 0)
        (void)err_set(&err, r, "no memory for the list of %s", request->kind->name);
    candidate_list_free(list);
    if (r == 0 && request->kind->row == KIND_NODE)
        use_full_keys(&shown, keys);
    return r == 0 ? print(request, &shown) : fail(err.text);
}

static int run(struct options *o, const struct request *request, struct configuration *c) {
    struct err err;
    struct arena arena;
    if (options_configure_source(o, request->config, c, &err) != 0)
        return o->stopped ? o->exit_status : fail(err.text);
    bool has_state = c->state.path_count > 0 || server_is_set(&c->kubernetes) ||
                     (request->kind != NULL &&
                      server_is_set(server_settings(c, watched_kinds[request->kind->row].server)));
    if (!has_state && request->kind == NULL)
        return workloads_report(&request->workloads);
    if (!has_state) {
        options_fail(o, "no state; give --state FILE or DIR, or --kubeconfig FILE");
        return o->exit_status;
    }
    log_setup(LOG_WARN, c->log.format, 2); /* an API server that does not answer is logged */
    if (request->kind == NULL) {
        struct workloads_request workloads = request->workloads;
        workloads.configuration = c;
        return workloads_report(&workloads);
    }
    arena_init(&arena, LIMIT_STATE_BYTES);
    int status = list_candidates(request, c, &arena);
    arena_done(&arena);
    return status;
}

static void take_what(struct options *o, const char *name, struct request *request) {
    struct suggestion near = suggestion_for(str_of(name));
    const char *slash = strchr(name, '/');
    if (request->kind != NULL || request->workloads.name.n > 0) {
        options_fail(o, "unexpected argument '%s'", name);
        return;
    }
    if (slash != NULL) {
        request->workloads.namespace = (struct str){name, (size_t)(slash - name)};
        request->workloads.name = str_of(slash + 1);
        if (slash == name || slash[1] == '\0')
            options_fail(o, "expected NAMESPACE/NAME, not '%s'", name);
        return;
    }
    for (size_t i = 0; i < CANDIDATE_KINDS; i++) {
        suggestion_offer(&near, candidate_kinds[i].name);
        if (strcmp(candidate_kinds[i].name, name) == 0)
            request->kind = &candidate_kinds[i];
    }
    if (request->kind == NULL)
        options_fail(o, "nothing is called '%s', and a workload is NAMESPACE/NAME%s%s%s", name,
                     near.best != NULL ? "; did you mean '" : "",
                     near.best != NULL ? near.best : "", near.best != NULL ? "'?" : "");
}

static void take_key(struct options *o, const char *key, struct request *request) {
    if (request->key_count == KEYS_MAX)
        options_fail(o, "more than %d times --by", KEYS_MAX);
    else
        request->keys[request->key_count++] = key;
}

static void use_keys_of_kind(struct request *request) {
    const char *const *keys = request->kind->keys;
    while (request->key_count < CANDIDATE_KEYS && keys[request->key_count] != NULL) {
        request->keys[request->key_count] = keys[request->key_count];
        request->key_count++;
    }
}

static void take_max_skew(struct options *o, const char *text, struct request *request) {
    int64_t *max_skew = &request->workloads.max_skew;
    if (!str_to_i64(str_of(text), max_skew) || *max_skew < 0)
        options_fail(o, "--max-skew '%s': expected a number of pods, 0 or more", text);
}

/* Refuses options that contradict each other. */
static void check_request(struct options *o, const struct request *request) {
    if (request->kind == NULL && request->key_count > 1)
        options_fail(o, "more than one --by: one report is by one topology key");
    else if (request->kind != NULL && request->workloads.max_skew >= 0)
        options_fail(o, "--max-skew is about workloads, not about %s", request->kind->name);
}

static bool read_options(struct options *o, struct request *request) {
    struct option_value v;
    while (options_next(o, &v)) {
        if (v.spec == &specs[SPEC_BY])
            take_key(o, v.text, request);
        else if (v.spec == &specs[SPEC_MAX_SKEW])
            take_max_skew(o, v.text, request);
        else if (v.spec == &specs[SPEC_SERVER])
            request->workloads.daemon.server = v.text;
        else if (v.spec == &specs[SPEC_TOKEN_FILE])
            request->workloads.daemon.token_file = v.text;
        else if (v.spec == &specs[SPEC_OUTPUT])
            request->json = options_output_is_json(o, v.text);
        else if (v.spec == &specs[SPEC_CONFIG])
            request->config = v.text;
        else if (v.flag == NULL)
            take_what(o, v.text, request);
    }
    if (!o->stopped)
        check_request(o, request);
    request->workloads.json = request->json;
    request->workloads.by = request->keys[0];
    return !o->stopped;
}

int cmd_topology(int argc, char **argv) {
    struct options o;
    struct request request = {
        .workloads = {.daemon = {.server = "http://127.0.0.1:8080", .source = "--server"},
                      .max_skew = -1}};
    options_init(&o, &topology_command, argc, argv);
    if (!read_options(&o, &request))
        return o.exit_status;
    if (request.key_count == 0 && request.kind != NULL)
        use_keys_of_kind(&request);
    struct configuration c;
    configuration_init(&c);
    int status = run(&o, &request, &c);
    configuration_done(&c);
    return status;
}
