#include "members/member.h"

#include "base/back_off.h"
#include "base/limits.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

int member_new(const struct members *members, struct str name, struct arena *arena,
               struct member **ret, struct err *err) {
    struct member *m = calloc(1, sizeof *m);
    if (m == NULL)
        return err_set(err, -ENOMEM, "no memory for member clusters");
    list_init(&m->link);
    arena_init(&m->arena, 4u * LIMIT_CONFIG_BYTES);
    m->members = members;
    const int r = informer_new(&member_store, NULL, &m->informer, err);
    struct arena *from = arena != NULL ? arena : &m->arena;
    m->role = arena_cstr(from, name);
    if (r != 0 || m->role == NULL) {
        member_free(m);
        return r != 0 ? r : err_set(err, -ENOMEM, "no memory for member clusters");
    }
    m->name = str_of(m->role);
    if (arena != NULL) {
        m->arena = *arena;
        arena_init(arena, m->arena.max);
    }
    *ret = m;
    return 0;
}

void member_finish_access(struct member *m) {
    m->access.role = m->role;
    m->access.multiplex = true;
    m->access.unmeasured = true;
}

int member_begin(struct member *m, struct member_loop *loop, int64_t now_ms, struct err *err) {
    int r = 0;
    if (m->loop == NULL) {
        m->loop = loop;
        loop->members++;
    }
    if (m->client == NULL)
        r = kube_client_new_on(m->loop->loop, &m->access, &m->client, err);
    member_limit(m->informer, members_configured(m->members)->max_bytes);
    const bool quotas = members_configured(m->members)->quotas;
    const struct informer_watch watch = {.client = m->client,
                                         .seed = clock_seed(),
                                         .without = quotas ? 0 : MEMBER_KIND(MEMBER_QUOTAS),
                                         .unmeasured = true};
    if (r == 0)
        r = informer_watch(m->informer, &watch, err);
    m->begun_ms = now_ms;
    if (r == 0)
        atomic_store(&m->begun, true);
    return r;
}

bool member_is_starting(struct member *m, int64_t now_ms) {
    enum { LISTING_MS = 30000 }; /* longer than almost any listing takes */
    if (m == NULL || !m->begun || informer_listed(m->informer))
        return false;
    const bool is_late = now_ms - m->begun_ms >= LISTING_MS;
    if (is_late)
        atomic_store(&m->tried, true);
    return !is_late;
}

void member_put_off(struct member *m, int64_t now_ms) {
    static const struct back_off b = {.first_ms = 1000, .longest_ms = 60000};
    m->begin_ms = now_ms + back_off_ms(&b, m->failures++, NULL);
    atomic_store(&m->tried, true);
}

void member_stop(struct member *m) {
    informer_stop(m->informer);
    kube_client_free(m->client);
    m->client = NULL;
    if (m->loop != NULL)
        m->loop->members--;
    m->loop = NULL;
}

void member_free(struct member *m) {
    if (m == NULL)
        return;
    member_stop(m);
    informer_free(m->informer);
    arena_done(&m->arena);
    free(m);
}

static bool is_same_text(const char *a, const char *b) {
    return str_eq(str_of(a), str_of(b));
}

bool member_asks_same(const struct member *a, const struct member *b) {
    const struct kube_access *x = &a->access, *y = &b->access;
    if (!member_has_access(a) || !member_has_access(b) || !is_same_text(x->server, y->server) ||
        !is_same_text(x->proxy_url, y->proxy_url) || x->proxy_header_count != y->proxy_header_count)
        return false;
    for (size_t i = 0; i < x->proxy_header_count; i++)
        if (!is_same_text(x->proxy_headers[i], y->proxy_headers[i]))
            return false;
    return true;
}

bool member_is_listed(const struct member *m) {
    if (m->is_of_files)
        return informer_changes(m->informer) > 0;
    return !member_has_access(m) || (m->begun && informer_listed(m->informer));
}

/* ---- for callers ---- */

const char *member_state_text(enum member_state state) {
    static const char *const texts[MEMBER_STATES] = {
        [MEMBER_SYNCING] = "not all of its objects are listed yet",
        [MEMBER_SYNCED] = "it is synced",
        [MEMBER_STALE] = "its API server has sent nothing for too long",
        [MEMBER_TOO_LARGE] = "it takes more than estimator.limits.memberBytes",
        [MEMBER_NO_ACCESS] = "its API server or credentials for it are not known",
    };
    return texts[state];
}

static enum member_state state_of_files(const struct member *m) {
    const uint64_t max_bytes = members_configured(m->members)->max_bytes;
    if (informer_changes(m->informer) == 0)
        return MEMBER_SYNCING;
    return max_bytes == 0 || member_stats(m->informer).bytes <= max_bytes ? MEMBER_SYNCED
                                                                          : MEMBER_TOO_LARGE;
}

static bool is_silent(const struct member *m, uint64_t kinds) {
    const int64_t limit_ms = members_stale_after_ms(m->members);
    return limit_ms > 0 && informer_kinds_age_ms(m->informer, kinds) > limit_ms;
}

/* Files are read at once or not at all; kinds that are not watched are not waited for. */
static enum member_state state_of_kinds(const struct member *m, uint64_t kinds) {
    if (m->is_of_files)
        return state_of_files(m);
    if (!member_has_access(m))
        return MEMBER_NO_ACCESS;
    if (member_too_large(m->informer) & kinds)
        return MEMBER_TOO_LARGE;
    if (!m->begun || !informer_kinds_synced(m->informer, kinds))
        return MEMBER_SYNCING;
    return is_silent(m, kinds) || m->behind > 0 ? MEMBER_STALE : MEMBER_SYNCED;
}

static const uint64_t room_kinds =
    MEMBER_KIND(MEMBER_NODES) | MEMBER_KIND(MEMBER_PODS) | MEMBER_KIND(MEMBER_QUOTAS);

enum member_state member_state(const struct member *m) {
    return state_of_kinds(m, room_kinds);
}

/* An API server's answer ends its silence, but missed events arrive a moment later. Before the
 * first listing no event can be missed. */
void member_poll(struct member *m) {
    enum { BEHIND_POLLS = 2 };
    if (m->client == NULL || !m->begun)
        return;
    kube_compare_clocks(m->client);
    const bool is_synced = informer_kinds_synced(m->informer, room_kinds);
    if (is_synced && is_silent(m, room_kinds))
        m->behind = BEHIND_POLLS;
    else if (m->behind > 0)
        m->behind--;
}

enum member_state member_workloads_state(const struct member *m) {
    return state_of_kinds(m, MEMBER_KIND(MEMBER_PODS) | MEMBER_KIND(MEMBER_DEPLOYMENTS) |
                                 MEMBER_KIND(MEMBER_REPLICA_SETS));
}

struct str member_name(const struct member *m) {
    return m->name;
}

struct informer *member_informer(const struct member *m) {
    return m->informer;
}

void member_release(struct member *m) {
    if (m != NULL)
        atomic_fetch_sub_explicit(&m->holders, 1, memory_order_release);
}
