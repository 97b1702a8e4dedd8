#include "members/members.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/auth/access.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    MEMBERS_A_LOOP = 16,
    STARTING_AT_ONCE = 4, /* first listings under way */
};

struct member {
    const struct members *members;
    struct str name;
    struct informer *informer; /* owned */
    struct arena arena;        /* of the access */
    struct kube_access access;
    struct kube_client *client; /* owned; NULL: state files, or not begun */
    bool is_of_files;
    _Atomic bool begun; /* its watches are; or it has none */
};

struct state_gauge {
    const struct members *members;
    enum member_state state;
    struct metric metric;
};

struct members {
    struct member *items; /* by name; owned */
    uint32_t count;
    int64_t stale_after_ms;
    struct kube_loop **loops; /* one for MEMBERS_A_LOOP each, as they are needed; owned */
    struct state_gauge gauges[MEMBER_STATES];
};

/* ---- sources ---- */

static bool is_name_char(char c, bool at_end) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (!at_end && (c == '-' || c == '.'));
}

static bool is_name(struct str name) {
    if (name.n == 0 || name.n > 253)
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!is_name_char(name.p[i], i == 0 || i + 1 == name.n))
            return false;
    return true;
}

static struct str behind(struct str s, size_t n) {
    return (struct str){s.p + n, s.n - n};
}

/* Takes the part up to the sign off; all of it without one. True: there is one. */
static bool take_up_to(struct str *rest, char sign, struct str *ret) {
    const size_t at = str_find(*rest, sign);
    *ret = at == SIZE_MAX ? *rest : (struct str){rest->p, at};
    *rest = at == SIZE_MAX ? (struct str){0} : behind(*rest, at + 1);
    return at != SIZE_MAX;
}

static bool is_url(struct str s) {
    return str_has_prefix(s, STR("https://")) || str_has_prefix(s, STR("http://"));
}

bool member_source_parse(struct str text, struct member_source *ret) {
    struct str rest = text;
    *ret = (struct member_source){.server = {0}};
    if (!take_up_to(&rest, '=', &ret->name))
        return is_name(ret->name);
    if (is_url(rest) && !take_up_to(&rest, ',', &ret->server))
        return is_name(ret->name);
    const bool has_context = take_up_to(&rest, '#', &ret->kubeconfig);
    ret->context = rest;
    return ret->kubeconfig.n > 0 && (!has_context || ret->context.n > 0) && is_name(ret->name);
}

bool member_source_is_files(const struct member_source *source) {
    return str_empty(source->kubeconfig) && str_empty(source->server);
}

static int find_access(const struct member_source *source, struct arena *arena,
                       struct kube_access *ret, struct err *err) {
    const char *path = arena_cstr(arena, source->kubeconfig);
    const char *context = source->context.n > 0 ? arena_cstr(arena, source->context) : NULL;
    const char *server = source->server.n > 0 ? arena_cstr(arena, source->server) : NULL;
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for member clusters");
    if (str_empty(source->kubeconfig))
        return kube_access_without_credentials(server, arena, ret, err);
    return kube_access_overriding(server, path, context, arena, ret, err);
}

/* ---- life ---- */

static int read_access(struct member *m, const struct member_source *source, struct err *err) {
    const char *role = arena_cstr(&m->arena, source->name);
    const int r = find_access(source, &m->arena, &m->access, err);
    m->access.role = role;
    return r == 0 ? 0 : err_wrap(err, "member cluster '%.*s'", STR_ARG(source->name));
}

static int member_init(struct member *m, const struct members *members, const char *text,
                       struct err *err) {
    struct member_source source;
    if (!member_source_parse(str_of(text), &source))
        return err_set(err, -EINVAL, "member cluster '%s': not NAME=KUBECONFIG[#CONTEXT]", text);
    m->members = members;
    m->name = source.name;
    m->is_of_files = member_source_is_files(&source);
    const int r = informer_new(&member_store, NULL, &m->informer, err);
    return r != 0 || m->is_of_files ? r : read_access(m, &source, err);
}

static int compare_members(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static int check_names(const struct members *m, struct err *err) {
    for (uint32_t i = 1; i < m->count; i++)
        if (str_eq(m->items[i - 1].name, m->items[i].name))
            return err_set(err, -EINVAL, "member cluster '%.*s' is there twice",
                           STR_ARG(m->items[i].name));
    return 0;
}

int members_new(const char *const *sources, size_t count, int64_t stale_after_ms,
                struct members **ret, struct err *err) {
    struct members *m = calloc(1, sizeof *m);
    if (m == NULL)
        return err_set(err, -ENOMEM, "no memory for member clusters");
    m->stale_after_ms = stale_after_ms;
    m->items = calloc(count > 0 ? count : 1, sizeof *m->items);
    m->loops = calloc(count / MEMBERS_A_LOOP + 1, sizeof(struct kube_loop *));
    int r = m->items == NULL || m->loops == NULL
                ? err_set(err, -ENOMEM, "no memory for member clusters")
                : 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        arena_init(&m->items[i].arena, 4u * LIMIT_CONFIG_BYTES);
        m->count++;
        r = member_init(&m->items[i], m, sources[i], err);
    }
    if (r == 0 && count > 1)
        qsort(m->items, m->count, sizeof *m->items, compare_members);
    if (r == 0)
        r = check_names(m, err);
    if (r == 0)
        *ret = m;
    else
        members_free(m);
    return r;
}

int members_use_cluster(struct members *m, const char *kubeconfig, const char *context,
                        struct err *err) {
    for (uint32_t i = 0; i < m->count; i++) {
        struct member *member = &m->items[i];
        if (!member->is_of_files)
            continue;
        const char *role = arena_cstr(&member->arena, member->name);
        int r = kubeconfig == NULL ? kube_access_in_cluster(&member->arena, &member->access, err)
                                   : kube_access_from_kubeconfig(
                                         kubeconfig, context, &member->arena, &member->access, err);
        if (r == 0 && arena_failed(&member->arena))
            r = err_set(err, -ENOMEM, "no memory for its credentials");
        if (r != 0)
            return err_wrap(err, "member cluster '%.*s'", STR_ARG(member->name));
        member->access.role = role;
        member->is_of_files = false;
    }
    return 0;
}

struct informer *members_of_files(const struct members *m) {
    for (uint32_t i = 0; i < m->count; i++)
        if (m->items[i].is_of_files)
            return m->items[i].informer;
    return NULL;
}

static double count_in_state(void *ctx) {
    const struct state_gauge *gauge = ctx;
    uint32_t count = 0;
    for (uint32_t i = 0; i < gauge->members->count; i++)
        count += member_state(&gauge->members->items[i]) == gauge->state;
    return count;
}

static void register_gauges(struct members *m) {
    static const char *const labels[MEMBER_STATES] = {
        [MEMBER_SYNCING] = "state=\"syncing\"",
        [MEMBER_SYNCED] = "state=\"synced\"",
        [MEMBER_STALE] = "state=\"stale\"",
    };
    for (int i = 0; i < MEMBER_STATES; i++) {
        struct state_gauge *gauge = &m->gauges[i];
        gauge->members = m;
        gauge->state = (enum member_state)i;
        gauge->metric = (struct metric){.name = "evenkeel_estimator_members",
                                        .help = "Member clusters that are estimated, by state.",
                                        .labels = labels[i],
                                        .kind = METRIC_GAUGE,
                                        .read = count_in_state,
                                        .ctx = gauge};
        metric_register(&gauge->metric);
    }
}

/* May be called again after it has failed. */
static int begin(struct members *m, uint32_t i, struct err *err) {
    struct member *member = &m->items[i];
    struct kube_loop **loop = &m->loops[i / MEMBERS_A_LOOP];
    int r = *loop == NULL ? kube_loop_new(NULL, loop, err) : 0;
    if (r == 0 && member->client == NULL)
        r = kube_client_new_on(*loop, &member->access, &member->client, err);
    const struct informer_watch watch = {
        .client = member->client, .seed = clock_seed(), .unmeasured = true};
    return r == 0 ? informer_watch(member->informer, &watch, err) : r;
}

/* Whether its first listing is under way now. */
static bool try_to_begin(struct members *m, uint32_t i) {
    struct member *member = &m->items[i];
    struct err err;
    if (begin(m, i, &err) != 0) {
        LOG_E("a member cluster is not watched", LOG_STR("member", member->name),
              LOG_ERRTEXT(&err));
        return false;
    }
    LOG_I("watching a member cluster", LOG_STR("member", member->name),
          LOG_CSTR("server", member->access.server), LOG_CSTR("source", member->access.source));
    atomic_store(&member->begun, true);
    return true;
}

static void begin_more(struct members *m) {
    uint32_t under_way = 0;
    for (uint32_t i = 0; i < m->count; i++)
        under_way += m->items[i].begun && !informer_listed(m->items[i].informer);
    for (uint32_t i = 0; i < m->count && under_way < STARTING_AT_ONCE; i++)
        if (!m->items[i].begun && !m->items[i].is_of_files)
            under_way += try_to_begin(m, i);
}

void members_start(struct members *m) {
    register_gauges(m);
    begin_more(m);
}

void members_poll(struct members *m) {
    begin_more(m);
    for (uint32_t i = 0; i < m->count; i++)
        if (m->items[i].client != NULL)
            kube_compare_clocks(m->items[i].client);
}

void members_stop(struct members *m) {
    if (m == NULL)
        return;
    for (int i = 0; i < MEMBER_STATES; i++)
        metric_unregister(&m->gauges[i].metric);
    for (uint32_t i = 0; i < m->count; i++)
        informer_stop(m->items[i].informer);
    for (uint32_t i = 0; i < m->count; i++) {
        kube_client_free(m->items[i].client);
        m->items[i].client = NULL;
    }
    for (uint32_t i = 0; m->loops != NULL && i <= m->count / MEMBERS_A_LOOP; i++) {
        kube_loop_free(m->loops[i]);
        m->loops[i] = NULL;
    }
}

void members_free(struct members *m) {
    if (m == NULL)
        return;
    members_stop(m);
    for (uint32_t i = 0; i < m->count; i++) {
        informer_free(m->items[i].informer);
        arena_done(&m->items[i].arena);
    }
    free(m->items);
    free(m->loops);
    free(m);
}

/* ---- asking ---- */

uint32_t members_count(const struct members *m) {
    return m->count;
}

struct member *members_at(const struct members *m, uint32_t i) {
    return &m->items[i];
}

struct member *members_find(const struct members *m, struct str name) {
    uint32_t low = 0, high = m->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = str_cmp(m->items[middle].name, name);
        if (order == 0)
            return &m->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Files are read at once, or not at all. */
enum member_state member_state(const struct member *m) {
    const int64_t limit_ms = m->members->stale_after_ms;
    if (m->is_of_files)
        return informer_changes(m->informer) > 0 ? MEMBER_SYNCED : MEMBER_SYNCING;
    if (!m->begun || !informer_synced(m->informer))
        return MEMBER_SYNCING;
    return limit_ms <= 0 || informer_age_ms(m->informer) <= limit_ms ? MEMBER_SYNCED : MEMBER_STALE;
}

bool members_listed(const struct members *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        const struct member *member = &m->items[i];
        if (member->is_of_files ? informer_changes(member->informer) == 0
                                : !member->begun || !informer_listed(member->informer))
            return false;
    }
    return true;
}

struct str member_name(const struct member *m) {
    return m->name;
}

struct informer *member_informer(const struct member *m) {
    return m->informer;
}
