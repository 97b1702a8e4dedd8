/* Workloads from the report of a daemon, page by page. */
#include "cli/workloads_internal.h"
#include "evenness/render.h"
#include "kube/client/client.h"

#include <errno.h>

enum { ATTEMPTS = 3 };

/* Has the text only characters that need no escaping in a query, such as those of keys and
 * names? */
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

/* Makes the error for a daemon that did not answer; `r` is the result of kube_call(). */
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
    struct arena *arena; /* the arena of `all` */
    uint32_t workload_cap, result_cap, counts, count_cap;
};

/* Copies the parts that are equal on all pages. */
static int begin_report(struct growing *g, const struct evenness_report *page) {
    struct evenness_report *all = g->all = arena_alloc(g->arena, sizeof *all);
    const struct evenness_key *from = &page->keys[0];
    struct evenness_key *key = arena_alloc(g->arena, sizeof *key);
    if (all == NULL || key == NULL)
        return -ENOMEM;
    *all = (struct evenness_report){.keys = key,
                                    .key_count = 1,
                                    .lost = page->lost,
                                    .pending = page->pending,
                                    .data_age_ms = page->data_age_ms,
                                    .not_measured = page->not_measured};
    key->name = arena_str(g->arena, from->name);
    key->domain_count = from->domain_count;
    key->without = from->without;
    key->without.name = STR("");
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
        return; /* the error stays in the arena */
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

/* Adds a copy of the page, because the page's memory is freed afterwards. */
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

/* Reads the page at `more` in memory of its own. Sets `more` to the start of the next page; "":
 * this was the last page. */
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
    arena_reset(s->arena); /* drops an earlier attempt */
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
    for (int i = 0; r == -ESTALE && i < ATTEMPTS; i++) /* stale: the daemon made a new report */
        r = ask_pages(q, client, s, err);
    return r;
}

int workloads_ask_daemon(const struct workloads_request *q, struct selection *s, struct err *err) {
    CLEANUP(kube_client_cleanup) struct kube_client *client = NULL;
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
