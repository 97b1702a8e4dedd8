#include "members/members.h"

#include "base/clock.h"
#include "base/dns_name.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/sorted.h"
#include "members/member.h"

#include <errno.h>
#include <stdlib.h>

enum {
    MEMBERS_A_LOOP = 16,
    STARTING_AT_ONCE = 4, /* first listings that are waited for */
    /* how long to rely on an old member without `stale_after_ms` */
    REPLACED_AFTER_MS = 120000,
};

struct state_gauge {
    struct members *members;
    enum member_state state;
    struct metric metric;
};

struct members {
    struct rwlock lock;    /* guards the next two members, for callers */
    struct member **items; /* sorted by name; owned */
    uint32_t count;

    uint32_t cap;
    int64_t stale_after_ms;
    struct members_options options;
    struct list leaving; /* removed members that callers still hold; owned */
    struct list loops;   /* struct member_loop; owned */
    _Atomic bool complete;
    _Atomic bool listed; /* all first members were listed, or tried */
    struct state_gauge gauges[MEMBER_STATES];
};

int64_t members_stale_after_ms(const struct members *m) {
    return m->stale_after_ms;
}

void members_configure(struct members *m, const struct members_options *options) {
    m->options = *options;
}

const struct members_options *members_configured(const struct members *m) {
    return &m->options;
}

/* ---- sources ---- */

static int read_access(struct member *m, const struct member_source *source, struct err *err) {
    const int r = member_source_access(source, &m->arena, &m->access, err);
    member_finish_access(m);
    return r == 0 ? 0 : err_wrap(err, "member cluster '%.*s'", STR_ARG(source->name));
}

/* ---- the set ---- */

static struct str name_of(const void *items, size_t i) {
    return ((struct member *const *)items)[i]->name;
}

/* Returns the index of the name, or the index where it must be inserted. */
static uint32_t place_of(const struct members *m, struct str name, bool *ret_found) {
    return (uint32_t)sorted_place(m->items, m->count, name_of, name, ret_found);
}

/* Makes a member leave: no caller can find it any more, and it ends when no caller holds it. NULL
 * is fine. */
static void leave(struct members *m, struct member *member) {
    if (member == NULL)
        return;
    struct member *next = member->next;
    member->next = NULL;
    list_append(&m->leaving, &member->link);
    if (next != NULL)
        list_append(&m->leaving, &next->link);
}

/* Makes room for one more member. Callers wait only while a pointer is exchanged, not for
 * memory. */
static int grow(struct members *m, struct err *err) {
    if (m->count < m->cap)
        return 0;
    const uint32_t cap = m->cap > 0 ? m->cap * 2 : 8;
    struct member **items = calloc(cap, sizeof(struct member *)), **old = m->items;
    if (items == NULL)
        return err_set(err, -ENOMEM, "no memory for member clusters");
    if (m->count > 0)
        memcpy(items, old, m->count * sizeof(struct member *));
    rwlock_write(&m->lock);
    m->items = items;
    rwlock_write_done(&m->lock);
    m->cap = cap;
    free(old);
    return 0;
}

/* Inserts a member; the array must have room. */
static void insert(struct members *m, uint32_t place, struct member *member) {
    rwlock_write(&m->lock);
    memmove(&m->items[place + 1], &m->items[place], (m->count - place) * sizeof(struct member *));
    m->items[place] = member;
    m->count++;
    rwlock_write_done(&m->lock);
}

static void exchange(struct members *m, uint32_t place, struct member *member) {
    struct member *old = m->items[place];
    rwlock_write(&m->lock);
    m->items[place] = member;
    rwlock_write_done(&m->lock);
    leave(m, old);
}

/* ---- life ---- */

static int add_source(struct members *m, const char *text, struct err *err) {
    struct member_source source;
    struct member *member = NULL;
    bool found;
    if (!member_source_parse(str_of(text), &source))
        return err_set(err, -EINVAL, "member cluster '%s': not NAME=KUBECONFIG[#CONTEXT]", text);
    const uint32_t place = place_of(m, source.name, &found);
    if (found)
        return err_set(err, -EINVAL, "member cluster '%.*s' is there twice", STR_ARG(source.name));
    int r = grow(m, err);
    if (r == 0)
        r = member_new(m, source.name, NULL, &member, err);
    if (r != 0)
        return r;
    member->is_fixed = true;
    member->is_of_files = member_source_is_files(&source);
    if (!member->is_of_files)
        r = read_access(member, &source, err);
    if (r == 0)
        insert(m, place, member);
    else
        member_free(member);
    return r;
}

int members_new(const char *const *sources, size_t count, int64_t stale_after_ms,
                struct members **ret, struct err *err) {
    struct members *m = calloc(1, sizeof *m);
    int r = 0;
    if (m == NULL)
        return err_set(err, -ENOMEM, "no memory for member clusters");
    rwlock_init(&m->lock);
    list_init(&m->leaving);
    list_init(&m->loops);
    m->stale_after_ms = stale_after_ms;
    atomic_init(&m->complete, true);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = add_source(m, sources[i], err);
    if (r == 0)
        *ret = m;
    else
        members_free(m);
    return r;
}

int members_use_cluster(struct members *m, const char *kubeconfig, const char *context,
                        struct err *err) {
    for (uint32_t i = 0; i < m->count; i++) {
        struct member *member = m->items[i];
        if (!member->is_of_files)
            continue;
        const int r = kubeconfig == NULL
                          ? kube_access_in_cluster(&member->arena, &member->access, err)
                          : kube_access_from_kubeconfig(kubeconfig, context, &member->arena,
                                                        &member->access, err);
        if (r != 0)
            return err_wrap(err, "member cluster '%.*s'", STR_ARG(member->name));
        member_finish_access(member);
        member->is_of_files = false;
    }
    return 0;
}

struct informer *members_of_files(const struct members *m) {
    for (uint32_t i = 0; i < m->count; i++)
        if (m->items[i]->is_of_files)
            return m->items[i]->informer;
    return NULL;
}

/* Ends members that no caller holds, and then threads without members. The last caller is long gone
 * when a member's place is taken. */
static void end_leaving(struct members *m) {
    for (struct list *l = m->leaving.next, *next; l != &m->leaving; l = next) {
        struct member *member = LIST_ITEM(struct member, link, l);
        next = l->next;
        if (atomic_load_explicit(&member->holders, memory_order_acquire) > 0)
            continue;
        list_remove(l);
        member_free(member);
    }
    for (struct list *l = m->loops.next, *next; l != &m->loops; l = next) {
        struct member_loop *loop = LIST_ITEM(struct member_loop, link, l);
        next = l->next;
        if (loop->members > 0)
            continue;
        list_remove(l);
        kube_loop_free(loop->loop);
        free(loop);
    }
}

/* Returns a loop with room for one more; NULL: no thread can be made. */
static struct member_loop *find_loop(struct members *m, struct err *err) {
    for (struct list *l = m->loops.next; l != &m->loops; l = l->next) {
        struct member_loop *loop = LIST_ITEM(struct member_loop, link, l);
        if (loop->members < MEMBERS_A_LOOP)
            return loop;
    }
    struct member_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        (void)err_set(err, -ENOMEM, "no memory for member clusters");
        return NULL;
    }
    if (kube_loop_new(NULL, &loop->loop, err) != 0) {
        free(loop);
        return NULL;
    }
    list_append(&m->loops, &loop->link);
    return loop;
}

void members_set_complete(struct members *m, bool is_complete) {
    atomic_store(&m->complete, is_complete);
}

bool members_complete(const struct members *m) {
    return atomic_load(&m->complete);
}

uint32_t members_loops(const struct members *m) {
    uint32_t count = 0;
    for (const struct list *l = m->loops.next; l != &m->loops; l = l->next)
        count++;
    return count;
}

/* ---- first listings ---- */

/* Returns true if its first listing is under way now. */
static bool try_to_begin(struct members *m, struct member *member, int64_t now_ms) {
    struct err err;
    struct member_loop *loop = member->loop != NULL ? member->loop : find_loop(m, &err);
    if (loop != NULL && member_begin(member, loop, now_ms, &err) == 0) {
        LOG_I("watching a member cluster", LOG_STR("member", member->name),
              LOG_CSTR("server", member->access.server), LOG_CSTR("source", member->access.source));
        return true;
    }
    LOG_E("a member cluster is not watched", LOG_STR("member", member->name), LOG_ERRTEXT(&err));
    member_put_off(member, now_ms);
    return false;
}

static bool may_begin(const struct member *member, int64_t now_ms) {
    return !member->begun && !member->is_of_files && member_has_access(member) &&
           member->begin_ms <= now_ms;
}

/* Begins members first, then replacements. */
static void begin_more(struct members *m) {
    struct clock *clock = m->options.clock != NULL ? m->options.clock : clock_real();
    const int64_t now_ms = clock->now_ms(clock);
    uint32_t under_way = 0;
    for (uint32_t i = 0; i < m->count; i++)
        under_way += (uint32_t)member_is_starting(m->items[i], now_ms) +
                     member_is_starting(m->items[i]->next, now_ms);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < m->count && under_way < STARTING_AT_ONCE; i++) {
            struct member *member = pass == 0 ? m->items[i] : m->items[i]->next;
            if (member != NULL && may_begin(member, now_ms))
                under_way += try_to_begin(m, member, now_ms);
        }
}

/* ---- replacing ---- */

/* Are the old member's objects still right? They are while it receives all changes. */
static bool is_relied_on(const struct members *m, const struct member *old) {
    return member_state(old) == MEMBER_SYNCED &&
           (m->stale_after_ms > 0 ||
            informer_kinds_age_ms(old->informer,
                                  MEMBER_KIND(MEMBER_NODES) | MEMBER_KIND(MEMBER_PODS)) <=
                REPLACED_AFTER_MS);
}

static void replace_listed(struct members *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        struct member *old = m->items[i], *next = old->next;
        const bool is_good =
            next != NULL && member_state(next) == MEMBER_SYNCED && member_is_listed(next);
        if (next == NULL || (!is_good && is_relied_on(m, old)))
            continue;
        old->next = NULL;
        exchange(m, i, next);
    }
}

static void replace(struct members *m, uint32_t place, struct member *member) {
    struct member *old = m->items[place];
    if (member_asks_same(old, member) && is_relied_on(m, old)) {
        leave(m, old->next);
        old->next = member;
        return;
    }
    exchange(m, place, member);
}

int members_add(struct members *m, struct str name, struct arena *arena,
                const struct kube_access *access, struct err *err) {
    struct member *member = NULL;
    bool found;
    const uint32_t place = place_of(m, name, &found);
    int r = 0;
    if (!dns_subdomain_valid(name))
        r = err_set(err, -EINVAL, "'%.*s' is no name of a member cluster", STR_ARG(name));
    else if (found && m->items[place]->is_fixed)
        r = err_set(err, -EEXIST, "member cluster '%.*s' is there already", STR_ARG(name));
    if (r == 0)
        r = grow(m, err);
    if (r == 0)
        r = member_new(m, name, arena, &member, err);
    arena_reset(arena);
    if (r != 0)
        return r;
    if (access != NULL) {
        member->access = *access;
        member_finish_access(member);
    }
    if (found)
        replace(m, place, member);
    else
        insert(m, place, member);
    return 0;
}

void members_remove(struct members *m, struct str name) {
    bool found;
    const uint32_t place = place_of(m, name, &found);
    if (!found || m->items[place]->is_fixed)
        return;
    struct member *member = m->items[place];
    rwlock_write(&m->lock);
    m->count--;
    memmove(&m->items[place], &m->items[place + 1], (m->count - place) * sizeof(struct member *));
    rwlock_write_done(&m->lock);
    leave(m, member);
}

/* ---- all members ---- */

/* Holds all members, so that the lock is free while each is read. NULL: no memory. */
static struct member **hold_all(struct members *m, uint32_t *ret_count) {
    struct member **all = NULL;
    uint32_t room = 0;
    bool fits = false;
    while (!fits) {
        rwlock_read(&m->lock);
        const uint32_t count = m->count;
        fits = count <= room;
        for (uint32_t i = 0; fits && i < count; i++) {
            all[i] = m->items[i];
            atomic_fetch_add_explicit(&all[i]->holders, 1, memory_order_relaxed);
        }
        rwlock_read_done(&m->lock);
        *ret_count = count;
        if (fits)
            break;
        free(all);
        room = count + 8;
        all = calloc(room, sizeof(struct member *));
        if (all == NULL)
            return NULL;
    }
    return all;
}

static void release_all(struct member **all, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        member_release(all[i]);
    free(all);
}

static double count_in_state(void *ctx) {
    const struct state_gauge *gauge = ctx;
    uint32_t count = 0, in_state = 0;
    struct member **all = hold_all(gauge->members, &count);
    for (uint32_t i = 0; all != NULL && i < count; i++)
        in_state += member_state(all[i]) == gauge->state;
    release_all(all, all != NULL ? count : 0);
    return in_state;
}

bool members_listed(struct members *m) {
    if (atomic_load(&m->listed))
        return true;
    uint32_t count = 0;
    struct member **all = hold_all(m, &count);
    bool listed = all != NULL || count == 0;
    for (uint32_t i = 0; listed && i < count; i++)
        listed = member_is_listed(all[i]) || all[i]->tried;
    release_all(all, all != NULL ? count : 0);
    if (listed)
        atomic_store(&m->listed, true);
    return listed;
}

static void register_gauges(struct members *m) {
    static const char *const labels[MEMBER_STATES] = {
        [MEMBER_SYNCING] = "state=\"syncing\"",     [MEMBER_SYNCED] = "state=\"synced\"",
        [MEMBER_STALE] = "state=\"stale\"",         [MEMBER_NO_ACCESS] = "state=\"no_access\"",
        [MEMBER_TOO_LARGE] = "state=\"too_large\"",
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

void members_start(struct members *m) {
    register_gauges(m);
    begin_more(m);
}

void members_poll(struct members *m) {
    replace_listed(m);
    end_leaving(m);
    begin_more(m);
    for (uint32_t i = 0; i < m->count; i++)
        member_poll(m->items[i]);
}

void members_stop(struct members *m) {
    if (m == NULL)
        return;
    for (int i = 0; i < MEMBER_STATES; i++)
        metric_unregister(&m->gauges[i].metric);
    for (uint32_t i = 0; i < m->count; i++) {
        leave(m, m->items[i]->next);
        m->items[i]->next = NULL;
        member_stop(m->items[i]);
    }
    end_leaving(m);
}

void members_free(struct members *m) {
    if (m == NULL)
        return;
    members_stop(m);
    for (uint32_t i = 0; i < m->count; i++)
        member_free(m->items[i]);
    rwlock_done(&m->lock);
    free(m->items);
    free(m);
}

/* ---- asking ---- */

static struct member *hold(struct member *member) {
    atomic_fetch_add_explicit(&member->holders, 1, memory_order_relaxed);
    return member;
}

struct member *members_hold(struct members *m, struct str name) {
    bool found;
    rwlock_read(&m->lock);
    const uint32_t place = place_of(m, name, &found);
    struct member *member = found ? hold(m->items[place]) : NULL;
    rwlock_read_done(&m->lock);
    return member;
}

struct member *members_hold_only(struct members *m, uint32_t *ret_count) {
    rwlock_read(&m->lock);
    *ret_count = m->count;
    struct member *member = m->count == 1 ? hold(m->items[0]) : NULL;
    rwlock_read_done(&m->lock);
    return member;
}
