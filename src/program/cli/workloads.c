#include "cli/workloads.h"

#include "base/file.h"
#include "base/suggest.h"
#include "base/table.h"
#include "base/time.h"
#include "cli/workloads_internal.h"
#include "evenness/render.h"
#include "volumes/store.h"
#include "whatif/simulation.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <stdio.h>

static int fail(const char *why) {
    return answer_fail("topology", why);
}

const char *workloads_full_key(const char *key) {
    for (int i = 0; i < EVENNESS_DEFAULT_KEYS; i++) {
        const char *slash = strchr(evenness_default_keys[i], '/');
        if (slash != NULL && strcmp(slash + 1, key) == 0)
            return evenness_default_keys[i];
    }
    return NULL;
}

/* ---- from a state ---- */

static int key_of_state(const struct workloads_request *q, struct cache *cache, struct str *ret,
                        struct err *err) {
    static const int order[EVENNESS_DEFAULT_KEYS] = {1, 0, 2}; /* the zone first */
    struct str keys[EVENNESS_DEFAULT_KEYS];
    uint32_t count = 0;
    *ret = str_of(q->by != NULL ? q->by : "");
    if (q->by != NULL)
        return 0;
    if (evenness_keys_of(cache, keys, &count) != 0)
        return err_set(err, -ENOMEM, "no memory for the topology keys");
    for (int i = 0; i < EVENNESS_DEFAULT_KEYS && ret->n == 0; i++)
        for (uint32_t k = 0; k < count; k++)
            if (str_eq(keys[k], str_of(evenness_default_keys[order[i]])))
                *ret = keys[k];
    if (ret->n > 0)
        return 0;
    return err_set(err, -ENOENT,
                   "no node has a label %s, %s or %s; give --by KEY, a label that nodes have",
                   evenness_default_keys[1], evenness_default_keys[0], evenness_default_keys[2]);
}

static void volumes_cleanup(struct informer **volumes) {
    informer_free(*volumes);
}

static int measure(struct cache *cache, struct informer *volumes, const struct str *key,
                   struct evenness_report **ret, struct err *err) {
    struct evenness_round *round = NULL;
    int r = evenness_round_new(cache, key, 1, &round, err);
    if (r != 0)
        return r;
    evenness_round_pin(round, volume_pins, volumes);
    r = evenness_round_run(round, ret, err);
    evenness_round_free(round);
    return r;
}

static int measure_state(const struct workloads_request *q, struct selection *s, struct err *err) {
    CLEANUP(volumes_cleanup) struct informer *volumes = NULL;
    struct cache *cache = NULL;
    struct str key;
    int r = informer_new(&volume_store, NULL, &volumes, err);
    if (r == 0)
        r = simulation_load(q->configuration, NULL, volumes, NULL, &cache, err);
    if (r != 0)
        return r;
    if (cache_stats(cache).nodes == 0)
        r = err_set(err, -ENOENT, "%s", simulation_no_nodes);
    if (r == 0)
        r = key_of_state(q, cache, &key, err);
    if (r == 0)
        r = measure(cache, volumes, &key, &s->owned, err);
    const char *full = r == 0 && s->owned->keys[0].domain_count == 0 && q->by != NULL
                           ? workloads_full_key(q->by)
                           : NULL;
    if (full != NULL) {
        key = str_of(full);
        evenness_report_free(s->owned);
        s->owned = NULL;
        r = measure(cache, volumes, &key, &s->owned, err);
    }
    cache_free(cache);
    s->report = s->owned;
    if (r == 0 && s->report->keys[0].domain_count == 0)
        r = err_set(err, -ENOENT,
                    "no node has the label '%.*s'; `evenkeel topology nodes` shows "
                    "which node is where",
                    STR_ARG(key));
    return r;
}

/* ---- which workloads ---- */

static const char *nearest_name(const struct workloads_request *q, const struct selection *s) {
    const struct evenness_report *report = s->report;
    struct suggestion near = suggestion_for(q->name);
    for (uint32_t i = 0; i < report->workload_count; i++) {
        char *name = str_eq(report->workloads[i].namespace, q->namespace)
                         ? arena_cstr(s->arena, report->workloads[i].name)
                         : NULL;
        if (name != NULL)
            suggestion_offer(&near, name);
    }
    return near.best;
}

/* The report has only workloads with counted pods. */
static int no_such_workload(const struct workloads_request *q, const struct selection *s,
                            struct err *err) {
    if (s->report->not_measured > 0)
        return err_set(err, -ENOENT,
                       "workload %.*s/%.*s is not measured: it is beyond the limit of %u workloads "
                       "of its namespace or of %u in all; or it has no pod",
                       STR_ARG(q->namespace), STR_ARG(q->name), LIMIT_EVENNESS_OF_A_NAMESPACE,
                       LIMIT_EVENNESS_WORKLOADS);
    const char *near = nearest_name(q, s);
    return err_set(err, -ENOENT,
                   "no workload %.*s/%.*s is measured: there is none%s%s%s, or it has no pod, or "
                   "its pods are bound to one node by name (DaemonSets, and pods without a "
                   "controller, are no workloads)",
                   STR_ARG(q->namespace), STR_ARG(q->name), near != NULL ? " (did you mean '" : "",
                   near != NULL ? near : "", near != NULL ? "'?)" : "");
}

/* Selects the workloads with the name: workloads of different kinds may have the same name. */
static int select_workloads(const struct workloads_request *q, struct selection *s,
                            struct err *err) {
    const struct evenness_report *report = s->report;
    const struct evenness_key *key = &report->keys[0];
    uint32_t *numbers = arena_array(s->arena, report->workload_count, sizeof *numbers);
    if (numbers == NULL)
        return err_set(err, -ENOMEM, "no memory for the report");
    for (uint32_t i = 0; i < report->workload_count; i++) {
        const struct evenness_workload *w = &report->workloads[key->worst[i]];
        if (q->name.n == 0 || (str_eq(w->namespace, q->namespace) && str_eq(w->name, q->name)))
            numbers[s->count++] = key->worst[i];
    }
    s->numbers = numbers;
    return q->name.n > 0 && s->count == 0 ? no_such_workload(q, s, err) : 0;
}

/* ---- the answer ---- */

static void say_what_is_missing(const struct selection *s) {
    if (s->report->not_measured > 0)
        fprintf(stderr,
                "evenkeel topology: %u pods are of workloads beyond the number that is "
                "measured\n",
                s->report->not_measured);
    else if (s->report->workload_count == 0)
        fprintf(stderr, "evenkeel topology: there is nothing to measure: no pod of a workload is "
                        "on a node\n");
}

static int print(const struct workloads_request *q, const struct selection *s) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    const struct evenness_page page = {s->key, s->numbers, s->count, STR(""),
                                       s->report->data_age_ms};
    answer_print_fn *print_selection = q->json         ? NULL
                                       : q->name.n > 0 ? workloads_print_each
                                                       : workloads_print_all;
    evenness_render(s->report, &page, &json);
    const int status = answer_write("topology", &json, print_selection, q, "");
    if (status == 0)
        say_what_is_missing(s);
    return status;
}

/* A skew that cannot be smaller is no failure. An unknown skew is a failure: each pod that was not
 * measured may belong to a selected workload, unless the user named one and it was found. */
static int judge(const struct workloads_request *q, const struct selection *s) {
    const struct evenness_key *key = &s->report->keys[s->key];
    uint32_t beyond = 0, unknown = 0, pods = q->name.n > 0 ? 0 : s->report->not_measured;
    if (q->max_skew < 0)
        return 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct evenness_result *result = &key->results[s->numbers[i]];
        unknown += result->state == EVENNESS_UNKNOWN;
        beyond += result->skew > q->max_skew && result->best < result->skew;
    }
    if (beyond > 0)
        fprintf(stderr, "evenkeel topology: %u workload%s skew above %lld that could be less\n",
                beyond, beyond == 1 ? " has a" : "s have a", (long long)q->max_skew);
    if (unknown > 0 || pods > 0)
        fprintf(stderr,
                "evenkeel topology: no skew is known of %u workload%s and %u pods that were not "
                "measured\n",
                unknown, unknown == 1 ? "" : "s", pods);
    return beyond > 0 || unknown > 0 || pods > 0 ? EXIT_SKEW : 0;
}

/* Finds the oldest state file by the time of its last change. A pipe has no such time. */
static void find_state_age(struct workloads_request *q, struct manifests *files) {
    const struct configuration *c = q->configuration;
    int64_t oldest_ns = INT64_MAX;
    struct err unsaid; /* not reported: the files were read before */
    if (manifests_list(c->state.paths, c->state.path_count, "state", files, &unsaid) != 0)
        return;
    for (size_t i = 0; i < files->count; i++) {
        const int64_t mtime_ns = file_sign(files->items[i].path).mtime_ns;
        if (mtime_ns <= 0 || mtime_ns >= oldest_ns)
            continue;
        oldest_ns = mtime_ns;
        q->state_file = files->items[i].path;
    }
    if (q->state_file != NULL)
        q->state_age_ms = kube_wall_us() / 1000 - oldest_ns / 1000000;
}

int workloads_report(const struct workloads_request *asked) {
    struct workloads_request with_age = *asked, *request = &with_age;
    struct manifests files = {.count = 0};
    struct arena arena;
    struct selection s = {.arena = &arena};
    struct err err;
    arena_init(&arena, LIMIT_STATE_BYTES);
    int r = request->configuration != NULL ? measure_state(request, &s, &err)
                                           : workloads_ask_daemon(request, &s, &err);
    if (r == 0)
        r = select_workloads(request, &s, &err);
    if (r == 0 && request->configuration != NULL)
        find_state_age(request, &files);
    int status = r != 0 ? fail(err.text) : print(request, &s);
    if (r == 0 && status == 0)
        status = judge(request, &s);
    manifests_done(&files);
    evenness_report_free(s.owned);
    arena_done(&arena);
    return status;
}
