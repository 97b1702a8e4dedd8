#include "cli/workloads.h"

#include "base/json_writer.h"
#include "base/suggest.h"
#include "base/table.h"
#include "cli/simulation.h"
#include "evenness/render.h"
#include "kube/client/client.h"
#include "volumes/store.h"

#include <errno.h>
#include <stdio.h>

/* For people, not for -o json. */
enum { BAR = 40, NAME_SHOWN = 80, DOMAINS_SHOWN = 50, WORKLOADS_SHOWN = 1000 };
enum { ATTEMPTS = 3 };

/* The workloads that were asked for, and by which key. */
struct selection {
    struct evenness_report *report;
    struct evenness_report *owned; /* NULL: it is the arena's */
    const uint32_t *numbers;
    uint32_t key, count;
    struct arena *arena;
};

/* Names in it may say anything. */
static int fail(const char *why) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    table_text(str_of(why), &text);
    fprintf(stderr, "evenkeel topology: %.*s\n", STR_ARG(strbuf_str(&text)));
    return 1;
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

static void volumes_cleanup(struct volume_store **volumes) {
    volume_store_free(*volumes);
}

static int measure(struct cache *cache, struct volume_store *volumes, const struct str *key,
                   struct evenness_report **ret, struct err *err) {
    struct evenness_round *round = NULL;
    int r = evenness_round_new(cache, key, 1, &round, err);
    if (r != 0)
        return r;
    evenness_round_pin(round, volume_store_pins, volumes);
    r = evenness_round_run(round, ret, err);
    evenness_round_free(round);
    return r;
}

static int measure_state(const struct workloads_request *q, struct selection *s, struct err *err) {
    CLEANUP(volumes_cleanup) struct volume_store *volumes = NULL;
    struct cache *cache = NULL;
    struct str key;
    int r = volume_store_new(&volumes, err);
    if (r == 0)
        r = simulation_load(q->configuration, volumes, &cache, err);
    if (r != 0)
        return r;
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

/* ---- from a daemon ---- */

static void client_cleanup(struct kube_client **client) {
    if (*client != NULL)
        kube_client_free(*client);
}

/* Nothing that has to be escaped in a query, and nothing that no key or name has. */
static bool is_plain(struct str s) {
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '-' && c != '_' && c != '.' && c != '/')
            return false;
    }
    return true;
}

/* upstream: RFC 3986: all but unreserved characters are escaped; '/' may stand in a query. */
static void append_parameter(struct strbuf *path, const char *name, struct str value) {
    if (value.n > 0)
        strbuf_appendf(path, "%c%s=", memchr(path->p, '?', path->n) != NULL ? '&' : '?', name);
    for (size_t i = 0; i < value.n; i++) {
        if (is_plain((struct str){value.p + i, 1}))
            strbuf_append_char(path, value.p[i]);
        else
            strbuf_appendf(path, "%%%02X", (unsigned char)value.p[i]);
    }
}

/* `r` is what kube_call() returned: there was no answer at all. */
static int no_daemon(const struct workloads_request *q, int r, struct err *err) {
    (void)err_wrap(err, "no --state or --kubeconfig, and no daemon at %s", q->daemon.server);
    return r;
}

static int ask_page(const struct workloads_request *q, struct kube_client *client, struct str from,
                    struct strbuf *answer, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 4096};
    int status;
    strbuf_append_str(&path, STR("/topology"));
    append_parameter(&path, "limit", STR("1000"));
    append_parameter(&path, "by", str_of(q->by != NULL ? q->by : ""));
    append_parameter(&path, "namespace", q->namespace);
    append_parameter(&path, "name", q->name);
    append_parameter(&path, "continue", from);
    strbuf_append_char(&path, '\0');
    if (strbuf_failed(&path))
        return err_set(err, -ENOMEM, "no memory for the request");
    int r = kube_call(client, "GET", path.p, STR(""), answer, &status, err);
    if (r != 0 || status == 200)
        return r == 0 ? 0 : no_daemon(q, r, err);
    struct str why = str_trim(strbuf_str(answer));
    return err_set(err, status == 410 ? -ESTALE : -ENOENT, "%.*s%s", STR_ARG(why),
                   why.n == 0 ? "no answer" : "");
}

/* A report that grows page by page. */
struct growing {
    struct evenness_report *all;
    struct arena *arena; /* of all */
    uint32_t workload_cap, result_cap, counts, count_cap;
};

/* What all pages say the same of. */
static int begin_report(struct growing *g, const struct evenness_report *page) {
    struct evenness_report *all = g->all = arena_alloc(g->arena, sizeof *all);
    const struct evenness_key *from = &page->keys[0];
    struct evenness_key *key = arena_alloc(g->arena, sizeof *key);
    if (all == NULL || key == NULL)
        return -ENOMEM;
    *all =
        (struct evenness_report){.keys = key, .key_count = 1, .not_measured = page->not_measured};
    key->name = arena_str(g->arena, from->name);
    key->domain_count = from->domain_count;
    key->domains = arena_array(g->arena, from->domain_count, sizeof *key->domains);
    for (uint32_t d = 0; key->domains != NULL && d < from->domain_count; d++) {
        key->domains[d] = from->domains[d];
        key->domains[d].name = arena_str(g->arena, from->domains[d].name);
    }
    return arena_failed(g->arena) ? -ENOMEM : 0;
}

static void add_workload(struct growing *g, const struct evenness_report *page, uint32_t number) {
    struct evenness_key *to = &g->all->keys[0];
    const struct evenness_key *from = &page->keys[0];
    uint32_t at = g->all->workload_count;
    struct evenness_workload *workloads =
        arena_push(g->arena, g->all->workloads, at, &g->workload_cap, sizeof *workloads);
    struct evenness_result *results =
        arena_push(g->arena, to->results, at, &g->result_cap, sizeof *results);
    if (workloads == NULL || results == NULL)
        return; /* the arena says so */
    struct evenness_workload *w = &workloads[at];
    *w = page->workloads[number];
    w->namespace = arena_str(g->arena, w->namespace);
    w->group = arena_str(g->arena, w->group);
    w->kind = arena_str(g->arena, w->kind);
    w->name = arena_str(g->arena, w->name);
    results[at] = from->results[number];
    results[at].first = g->counts;
    g->all->workloads = workloads;
    to->results = results;
    g->all->workload_count++;
    for (uint32_t i = 0; i < from->results[number].count; i++) {
        struct evenness_count *counts =
            arena_push(g->arena, to->counts, g->counts, &g->count_cap, sizeof *counts);
        if (counts == NULL)
            return;
        counts[g->counts++] = from->counts[from->results[number].first + i];
        to->counts = counts;
    }
}

/* Copies what stays, for the page's memory is the next page's. */
static int add_page(struct growing *g, const struct evenness_report *page, struct err *err) {
    if (g->all == NULL && begin_report(g, page) != 0)
        return err_set(err, -ENOMEM, "no memory for the report");
    if (page->keys[0].domain_count != g->all->keys[0].domain_count)
        return err_set(err, -EINVAL, "the daemon's pages do not have the same domains");
    for (uint32_t i = 0; i < page->workload_count && !arena_failed(g->arena); i++)
        add_workload(g, page, i);
    for (int state = 0; state < EVENNESS_STATES; state++)
        g->all->keys[0].totals[state] += page->keys[0].totals[state];
    return arena_failed(g->arena) ? err_set(err, -ENOMEM, "no memory for the report") : 0;
}

/* One page in memory of its own, from `more` on, which is then where the next begins. */
static int take_page(const struct workloads_request *q, struct kube_client *client,
                     struct growing *g, struct strbuf *more, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    CLEANUP(strbuf_done) struct strbuf answer = {.max = LIMIT_REQUEST_ARENA};
    struct evenness_report page;
    struct str next = STR("");
    arena_init(&arena, LIMIT_STATE_BYTES);
    int r = ask_page(q, client, strbuf_str(more), &answer, err);
    if (r == 0)
        r = evenness_read(strbuf_str(&answer), &arena, &page, &next, err);
    if (r == 0)
        r = add_page(g, &page, err);
    if (r == 0 && next.n > 0 && page.workload_count == 0)
        r = err_set(err, -EINVAL, "the daemon has pages without workloads");
    more->n = 0;
    strbuf_append_str(more, next);
    return r == 0 && strbuf_failed(more) ? err_set(err, -ENOMEM, "no memory for the report") : r;
}

static int ask_pages(const struct workloads_request *q, struct kube_client *client,
                     struct selection *s, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf more = {.max = 4096};
    struct growing g = {.arena = s->arena};
    int r;
    arena_reset(s->arena); /* of an attempt before */
    do
        r = take_page(q, client, &g, &more, err);
    while (r == 0 && more.n > 0);
    if (r != 0)
        return r;
    struct evenness_key *key = &g.all->keys[0];
    key->worst = arena_array(s->arena, g.all->workload_count, sizeof *key->worst);
    if (key->worst == NULL)
        return err_set(err, -ENOMEM, "no memory for the report");
    for (uint32_t i = 0; i < g.all->workload_count; i++)
        key->worst[i] = i; /* the daemon's order */
    s->report = g.all;
    return 0;
}

static int ask_attempts(const struct workloads_request *q, struct kube_client *client,
                        struct selection *s, struct err *err) {
    int r = -ESTALE;
    for (int i = 0; r == -ESTALE && i < ATTEMPTS; i++) /* it makes a new report now and then */
        r = ask_pages(q, client, s, err);
    return r;
}

static int ask_daemon(const struct workloads_request *q, struct selection *s, struct err *err) {
    CLEANUP(client_cleanup) struct kube_client *client = NULL;
    if (!is_plain(str_of(q->by != NULL ? q->by : "")) || !is_plain(q->namespace) ||
        !is_plain(q->name))
        return err_set(err, -EINVAL,
                       "a topology key, namespace or name has letters, digits and "
                       "-_./ only");
    int r = kube_client_new(&q->daemon, NULL, &client, err);
    if (r != 0)
        return r;
    r = ask_attempts(q, client, s, err);
    const char *key = q->by != NULL ? workloads_full_key(q->by) : NULL;
    if (r != -ENOENT || key == NULL)
        return r;
    struct workloads_request full = *q;
    full.by = key;
    return ask_attempts(&full, client, s, err);
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

/* The report knows workloads by the pods that it has counted, and no others. */
static int no_such_workload(const struct workloads_request *q, const struct selection *s,
                            struct err *err) {
    if (s->report->not_measured > 0)
        return err_set(err, -ENOENT,
                       "workload %.*s/%.*s is not measured: it is beyond %u of its namespace or "
                       "%u in all, or has no pod that is bound to a node",
                       STR_ARG(q->namespace), STR_ARG(q->name), LIMIT_EVENNESS_OF_A_NAMESPACE,
                       LIMIT_EVENNESS_WORKLOADS);
    const char *near = nearest_name(q, s);
    return err_set(err, -ENOENT,
                   "no workload %.*s/%.*s is measured: there is none%s%s%s, or it has no pod that "
                   "is bound to a node, or its pods are bound to one node by name (DaemonSets, "
                   "and pods without a controller, are no workloads)",
                   STR_ARG(q->namespace), STR_ARG(q->name), near != NULL ? " (did you mean '" : "",
                   near != NULL ? near : "", near != NULL ? "'?)" : "");
}

/* Of all workloads those with the name: of several kinds there may be one each. */
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

/* ---- printing ---- */

static struct str shown(struct str domain) {
    return domain.n > 0 ? domain : STR("\"\"");
}

static void bar_cell(struct table *t, uint32_t pods, uint32_t most) {
    static const char bar[] = "########################################";
    uint64_t length = most == 0 ? 0 : ((uint64_t)pods * BAR + most - 1) / most;
    table_cell(t, (struct str){bar, length});
}

static void say_more(uint32_t count, uint32_t shown, struct strbuf *out) {
    if (count > shown)
        strbuf_appendf(out, "and %u more; -o json has all\n", count - shown);
}

static bool print_domains(const struct selection *s, struct strbuf *out) {
    static const char *const headings[] = {"DOMAIN", "NODES", "PODS", ""};
    const struct evenness_key *key = &s->report->keys[s->key];
    uint32_t most = 0;
    struct table t;
    table_init(&t, headings, 4, s->arena);
    t.right_aligned = 6;
    t.widest = NAME_SHOWN;
    for (uint32_t d = 0; d < key->domain_count; d++)
        most = key->domains[d].pods > most ? key->domains[d].pods : most;
    for (uint32_t d = 0; d < key->domain_count && d < DOMAINS_SHOWN; d++) {
        table_cell(&t, shown(key->domains[d].name));
        table_number(&t, key->domains[d].nodes);
        table_number(&t, key->domains[d].pods);
        bar_cell(&t, key->domains[d].pods, most);
    }
    bool good = table_render(&t, out);
    say_more(key->domain_count, DOMAINS_SHOWN, out);
    return good;
}

static void print_head(const struct selection *s, struct strbuf *out) {
    const struct evenness_key *key = &s->report->keys[s->key];
    table_text(key->name, out);
    strbuf_appendf(out, ": %u domains; %u workloads: %u even, %u unavoidable, %u uneven",
                   key->domain_count, s->report->workload_count, key->totals[EVENNESS_EVEN],
                   key->totals[EVENNESS_UNAVOIDABLE], key->totals[EVENNESS_UNEVEN]);
    if (key->totals[EVENNESS_UNKNOWN] > 0)
        strbuf_appendf(out, ", %u unknown", key->totals[EVENNESS_UNKNOWN]);
    strbuf_append_str(out, STR("\n\n"));
}

/* "zone-a 5  zone-b 4  zone-c 0!" */
static struct str counts_text(const struct selection *s, const struct evenness_result *result) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct evenness_key *key = &s->report->keys[s->key];
    for (uint32_t i = 0; i < result->count && i < DOMAINS_SHOWN; i++) {
        const struct evenness_count *count = &key->counts[result->first + i];
        strbuf_appendf(&text, "%s%.*s %u%s", i > 0 ? "  " : "",
                       STR_ARG(shown(key->domains[count->domain].name)), count->pods,
                       count->feasible ? "" : "!");
    }
    if (result->count > DOMAINS_SHOWN)
        strbuf_appendf(&text, "  and %u more", result->count - DOMAINS_SHOWN);
    return arena_str(s->arena, strbuf_str(&text));
}

/* "StatefulSet", "StatefulSet.apps.kruise.io" */
static struct str kind_text(const struct evenness_workload *w, struct arena *arena) {
    if (evenness_is_built_in(w) || w->group.n == 0)
        return w->kind;
    return arena_printf(arena, "%.*s.%.*s", STR_ARG(w->kind), STR_ARG(w->group));
}

static void skew_cell(struct table *t, const struct evenness_result *result, uint32_t skew) {
    if (result->state == EVENNESS_UNKNOWN)
        table_cell(t, STR("-"));
    else
        table_number(t, skew);
}

static bool print_workloads(const struct selection *s, struct strbuf *out) {
    static const char *const headings[] = {"NAMESPACE", "NAME", "KIND",  "PODS",
                                           "SKEW",      "BEST", "STATE", "DOMAINS"};
    struct table t;
    table_init(&t, headings, 8, s->arena);
    t.right_aligned = 7 << 3;
    t.width = 160;
    t.narrowest = 40;
    t.widest = NAME_SHOWN;
    for (uint32_t i = 0; i < s->count && i < WORKLOADS_SHOWN; i++) {
        const struct evenness_workload *w = &s->report->workloads[s->numbers[i]];
        const struct evenness_result *result = &s->report->keys[s->key].results[s->numbers[i]];
        table_cell(&t, w->namespace);
        table_cell(&t, w->name);
        table_cell(&t, kind_text(w, s->arena));
        table_number(&t, w->pods);
        skew_cell(&t, result, result->skew);
        skew_cell(&t, result, result->best);
        table_cell(&t, str_of(evenness_state_names[result->state]));
        table_cell(&t, counts_text(s, result));
    }
    bool good = table_render(&t, out);
    say_more(s->count, WORKLOADS_SHOWN, out);
    return good;
}

static const char *meaning(const struct evenness_result *result) {
    static const char *const meanings[EVENNESS_STATES] = {
        [EVENNESS_EVEN] = "even",
        [EVENNESS_UNAVOIDABLE] = "unavoidable: no placement on its feasible nodes has less",
        [EVENNESS_UNEVEN] = "uneven: the cluster could do better",
        [EVENNESS_UNKNOWN] = "unknown: where its pods may run could not be told"};
    return meanings[result->state];
}

static bool print_workload(const struct selection *s, uint32_t number, struct strbuf *out) {
    static const char *const headings[] = {"DOMAIN", "PODS", ""};
    const struct evenness_key *key = &s->report->keys[s->key];
    const struct evenness_workload *w = &s->report->workloads[number];
    const struct evenness_result *result = &key->results[number];
    uint32_t most = 0;
    struct table t;
    table_text(kind_text(w, s->arena), out);
    strbuf_append_char(out, ' ');
    table_text(w->namespace, out);
    strbuf_append_char(out, '/');
    table_text(w->name, out);
    strbuf_appendf(out, ", %u pods, by ", w->pods);
    table_text(key->name, out);
    strbuf_append_char(out, '\n');
    if (result->state != EVENNESS_UNKNOWN)
        strbuf_appendf(out, "skew %u, best %u; ", result->skew, result->best);
    strbuf_appendf(out, "%s\n\n", meaning(result));
    table_init(&t, headings, 3, s->arena);
    t.right_aligned = 2;
    t.widest = NAME_SHOWN;
    for (uint32_t i = 0; i < result->count; i++)
        most =
            key->counts[result->first + i].pods > most ? key->counts[result->first + i].pods : most;
    for (uint32_t i = 0; i < result->count && i < WORKLOADS_SHOWN; i++) {
        const struct evenness_count *count = &key->counts[result->first + i];
        table_cell(&t, shown(key->domains[count->domain].name));
        table_number(&t, count->pods);
        if (count->feasible)
            bar_cell(&t, count->pods, most);
        else
            table_cell(&t, STR("! no feasible node: does not count"));
    }
    bool good = table_render(&t, out);
    say_more(result->count, WORKLOADS_SHOWN, out);
    return good;
}

static bool print_table(const struct workloads_request *q, const struct selection *s,
                        struct strbuf *out) {
    bool good = true;
    if (q->name.n > 0) {
        for (uint32_t i = 0; good && i < s->count; i++) {
            if (i > 0)
                strbuf_append_char(out, '\n');
            good = print_workload(s, s->numbers[i], out);
        }
        return good;
    }
    print_head(s, out);
    good = print_domains(s, out);
    strbuf_append_char(out, '\n');
    return good && print_workloads(s, out);
}

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
    CLEANUP(strbuf_done) struct strbuf out = {0};
    bool good = true;
    if (q->json) {
        const struct evenness_page page = {s->key, s->numbers, s->count, STR("")};
        evenness_render(s->report, &page, &out);
        strbuf_append_char(&out, '\n');
    } else {
        good = print_table(q, s, &out);
    }
    if (!good || strbuf_failed(&out))
        return fail("no memory for the answer");
    if (fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout) != 0)
        return fail("cannot write to standard output");
    say_what_is_missing(s);
    return 0;
}

/* What cannot be less is nobody's fault. What is not known is no success: of the pods that were not
 * measured each may be of a workload that was asked for, unless that has been found. */
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

int workloads_report(const struct workloads_request *request) {
    struct arena arena;
    struct selection s = {.arena = &arena};
    struct err err;
    arena_init(&arena, LIMIT_STATE_BYTES);
    int r = request->configuration != NULL ? measure_state(request, &s, &err)
                                           : ask_daemon(request, &s, &err);
    if (r == 0)
        r = select_workloads(request, &s, &err);
    int status = r != 0 ? fail(err.text) : print(request, &s);
    if (r == 0 && status == 0)
        status = judge(request, &s);
    evenness_report_free(s.owned);
    arena_done(&arena);
    return status;
}
