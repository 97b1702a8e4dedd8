/*
 * The planner's thread: what is offered to the writer, and when. The fleet is a real one, which the
 * test changes in the watch's place.
 */
#include "hub/planner.h"

#include "fleet/internal.h"
#include "unit/hub/planner_inside.h"
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <cJSON.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#define OWNER "'annotations':{'" PLACEMENT_MODE_ANNOTATION "':'Owner'}"
#define TERMS                                                                                      \
    "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'zone','topologyKeyType':'Label'}]}"
#define SPEC "'spec':{" TERMS "}"

static struct fleet *fleet;
static struct planner *planner;
static struct placement_history *history;
static struct policy_source *policies;
static struct fleet_observer observer;
static sem_t offered;
static _Atomic bool ready;

static _Atomic unsigned asked; /* how often it was asked whether all is known */

static bool is_ready(void *ctx) {
    (void)ctx;
    const bool yes = atomic_load(&ready);
    atomic_fetch_add(&asked, 1);
    return yes;
}

/* Nothing is planned from here on: a plan that had begun has ended. */
static void pause_planner(void) {
    atomic_store(&ready, false);
    const unsigned before = atomic_load(&asked);
    while (atomic_load(&asked) - before < 2) /* the first may have been answered already */
        (void)sched_yield();
}

static void on_ready(void *ctx) {
    (void)ctx;
    (void)sem_post(&offered);
}

/* As a watch would. */
static void give(enum fleet_kind kind, const char *json) {
    const struct informer_kind *row = &fleet_store.kinds[kind];
    struct arena arena;
    struct json_reader r;
    struct err err;
    arena_init(&arena, 1 << 20);
    char *text = arena_cstr(&arena, str_of(json));
    for (char *p = text; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    struct informer_object object = {.kind = kind, .arena = &arena, .json = str_of(text)};
    json_reader_init(&r, object.json, &arena, "object");
    row->decode(&r, &object);
    assert_int_equal(json_finish(&r, &err), 0);
    assert_int_equal(row->apply(informer_write(fleet_informer(fleet)), &object, &err), 0);
    informer_write_done(fleet_informer(fleet));
    arena_done(&arena);
}

static void drop(enum fleet_kind kind, const char *namespace, const char *name) {
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct informer_object gone = {
        .kind = kind,
        .meta = {.namespace = str_of(namespace), .name = str_of(name)},
        .arena = &arena};
    assert_int_equal(
        fleet_store.kinds[kind].remove(informer_write(fleet_informer(fleet)), &gone, NULL), 0);
    informer_write_done(fleet_informer(fleet));
    arena_done(&arena);
}

static void placement_in(const char *namespace, const char *name, const char *version) {
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'%s','namespace':'%s','uid':'u','resourceVersion':'%s'"
                   "," OWNER "}," SPEC "}",
                   name, namespace, version);
    give(FLEET_PLACEMENTS, text);
}

static void placement(const char *name, const char *version) {
    placement_in("n", name, version);
}

/* Time stands still, but for what the next plan takes. */
static struct clock_fake frozen;
static _Atomic int64_t next_plan_ms;

static int64_t begin_plan(void) {
    frozen.at_ms += atomic_exchange(&next_plan_ms, 0);
    return 1000000;
}

static int set_up(bool is_frozen) {
    assert_int_equal(sem_init(&offered, 0, 0), 0);
    atomic_store(&ready, true);
    assert_int_equal(fleet_new(&fleet, NULL), 0);
    assert_int_equal(placement_history_new(&history, NULL), 0);
    assert_int_equal(policy_source_new(NULL, 0, &policies, NULL), 0);
    const struct planner_options options = {.fleet = fleet,
                                            .policies = policies,
                                            .history = history,
                                            .settings = {.moves = {10000, 10}, .shards = 4},
                                            .clock = is_frozen ? &frozen.clock : NULL,
                                            .wall_us = is_frozen ? begin_plan : NULL,
                                            .is_ready = is_ready,
                                            .on_ready = on_ready};
    clock_fake_init(&frozen, 1000);
    assert_int_equal(planner_new(&options, &planner, NULL), 0);
    observer = (struct fleet_observer){.changed = planner_changed,
                                       .changed_all = planner_changed_all,
                                       .scored = planner_scored,
                                       .ctx = planner};
    fleet_observe(fleet, &observer);
    give(FLEET_SETS, "{'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':"
                     "'LabelSelector','labelSelector':{}}}}");
    give(FLEET_BINDINGS, "{'metadata':{'name':'all','namespace':'n'}}");
    give(FLEET_CLUSTERS, "{'metadata':{'name':'c','labels':{'zone':'a'}}}");
    return 0;
}

static int setup(void **state) {
    (void)state;
    return set_up(false);
}

static int setup_frozen(void **state) {
    (void)state;
    return set_up(true);
}

static int teardown(void **state) {
    (void)state;
    fleet_observe(fleet, NULL);
    planner_stop(planner);
    planner_free(planner);
    placement_history_free(history);
    policy_source_free(policies);
    fleet_free(fleet);
    (void)sem_destroy(&offered);
    return 0;
}

/* Waits for the next Placement that has something to be written. */
static void is_offered(const char *wanted) {
    struct strbuf name = {0};
    struct planner_offer offer;
    while (!planner_next(planner, &name, &offer))
        wait_sem(&offered, "nothing is offered");
    assert_str(strbuf_str(&name), wanted);
    strbuf_done(&name);
}

/* What was offered before it may be offered once more meanwhile. */
static void is_offered_as(const char *wanted, enum owned_what what, bool urgent) {
    struct planner_offer offer = {OWNED_NOTHING, false};
    while (offer.what != what || offer.urgent != urgent) {
        struct strbuf name = {0};
        while (!planner_next(planner, &name, &offer))
            wait_sem(&offered, "it is not offered so");
        assert_str(strbuf_str(&name), wanted);
        strbuf_done(&name);
    }
}

/* Both, in any order. */
static void are_offered(const char *a, const char *b) {
    bool seen[2] = {false, false};
    while (!seen[0] || !seen[1]) {
        struct strbuf name = {0};
        struct planner_offer offer;
        while (!planner_next(planner, &name, &offer))
            wait_sem(&offered, "not both are offered");
        seen[0] = seen[0] || str_eq(strbuf_str(&name), str_of(a));
        seen[1] = seen[1] || str_eq(strbuf_str(&name), str_of(b));
        strbuf_done(&name);
    }
}

static void is_taken(const char *name, enum write_verb verb, const char *body) {
    struct write w = {.verb = WRITE_NOTHING};
    planner_take(planner, str_of(name), &w);
    assert_int_equal(w.verb, verb);
    strbuf_append_char(&w.body, '\0');
    if (verb != WRITE_NOTHING)
        assert_contains(w.body.p, body);
    strbuf_done(&w.path);
    strbuf_done(&w.body);
}

static void ended(const char *name, enum write_end end, int status) {
    const struct write_result result = {.end = end, .status = status};
    planner_ended(planner, str_of(name), &result);
}

static void only_a_leader_plans(void **state) {
    (void)state;
    placement("p", "1");
    is_taken("n/p", WRITE_NOTHING, "");
    planner_lead(planner, true);
    is_offered("n/p");
    is_taken("n/p", WRITE_MERGE, PLACEMENT_DISABLE_ANNOTATION);
    is_taken("n/p", WRITE_NOTHING, ""); /* it is taken once */
    planner_lead(planner, false);
    is_taken("n/p", WRITE_NOTHING, "");
    planner_lead(planner, true);
    is_offered("n/p"); /* it starts from what there is */
    is_taken("n/p", WRITE_MERGE, PLACEMENT_DISABLE_ANNOTATION);
}

static void a_change_is_planned(void **state) {
    (void)state;
    planner_lead(planner, true);
    placement("p", "1");
    is_offered("n/p");
    placement("q", "1");
    is_offered("n/q");
    is_taken("n/q", WRITE_MERGE, "\"resourceVersion\":\"1\"");
    is_taken("nowhere/q", WRITE_NOTHING, "");
    drop(FLEET_PLACEMENTS, "n", "p");
    placement("r", "1");
    is_offered("n/r"); /* p was planned before it */
    is_taken("n/p", WRITE_NOTHING, "");
}

/* Of the one cluster, for the Placements of this file, which have one uid: with their item or none.
 */
static void scores(const char *version, bool has_item) {
    const struct injected_key key = injected_key_of(STR("u"), 4);
    char text[400], item[100] = "";
    if (has_item)
        (void)snprintf(item, sizeof item, "{'name':'" INJECTED_SCORE "','value':100}", key.shard,
                       key.number);
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'" INJECTED_RESOURCE "','namespace':'c',"
                   "'resourceVersion':'%s'},'status':{'scores':[%s]}}",
                   key.shard, version, item);
    give(FLEET_SCORES, text);
}

static void placement_scored(const char *name) {
    char text[600];
    (void)snprintf(text, sizeof text,
                   "{'metadata':{'name':'%s','namespace':'n','uid':'u','resourceVersion':'1',"
                   "'annotations':{'" PLACEMENT_MODE_ANNOTATION "':'Scores'}}," SPEC "}",
                   name);
    give(FLEET_PLACEMENTS, text);
}

/* All that have written an object look again when it is seen, and whose item changes. */
static void scores_that_are_seen(void **state) {
    (void)state;
    planner_lead(planner, true);
    placement_scored("p");
    is_offered("n/p");
    placement_scored("q");
    is_offered("n/q");
    is_taken("n/p", WRITE_CREATE, "AddOnPlacementScore");
    is_taken("n/q", WRITE_NOTHING, ""); /* it is the same object */
    ended("n/p", WRITE_DONE, 201);
    placement("z", "1");
    is_offered("n/z"); /* p and q were planned before it, and wait */
    scores("7", false);
    are_offered("n/p", "n/q");
    is_taken("n/p", WRITE_APPLY, "\"resourceVersion\":\"7\"");
    ended("n/p", WRITE_DONE, 200);
    scores("8", true); /* which both have: then the Placements themselves are told */
    are_offered("n/p", "n/q");
    is_taken("n/p", WRITE_MERGE, PLACEMENT_INJECTED_ANNOTATION);
    is_taken("n/q", WRITE_MERGE, PLACEMENT_INJECTED_ANNOTATION);
}

/* A write that ended without effect is offered again, and one that is under way is not. */
static void ends_of_writes(void **state) {
    (void)state;
    planner_lead(planner, true);
    placement("p", "1");
    is_offered("n/p");
    is_taken("n/p", WRITE_MERGE, "\"1\"");
    ended("n/p", WRITE_BUSY, 429);
    is_offered("n/p");
    is_taken("n/p", WRITE_MERGE, "\"1\"");
    ended("n/p", WRITE_DONE, 200);
    placement("q", "1");
    is_offered("n/q"); /* and p is not: the watch has not shown it */
    is_taken("n/p", WRITE_NOTHING, "");
    placement("p", "2");
    is_offered("n/p");
    is_taken("n/p", WRITE_MERGE, "\"2\"");
    ended("nowhere/p", WRITE_DONE, 200); /* of one that is not known */
}

static void nothing_before_all_is_known(void **state) {
    (void)state;
    atomic_store(&ready, false);
    planner_lead(planner, true);
    placement("p", "1");
    struct strbuf name = {0};
    struct planner_offer offer;
    assert_false(planner_next(planner, &name, &offer));
    is_taken("n/p", WRITE_NOTHING, "");
    atomic_store(&ready, true);
    planner_changed_all(planner);
    is_offered("n/p");
    strbuf_done(&name);
}

/* ---- many that share few objects ---- */

enum { CLUSTERS = 4, SHARDS = 4, SHARERS = 100, IN_FLIGHT = 16, WANTED = 4096 };

/* An AddOnPlacementScore on the hub. */
struct scored_object {
    char name[64];
    unsigned version, items; /* version 0: there is none */
};

struct sent {
    char name[32]; /* the Placement's */
    struct write write;
};

static struct {
    struct scored_object objects[CLUSTERS * SHARDS];
    unsigned version, writes, conflicts, items;
    char wanted[WANTED][32];
    unsigned wanted_first, wanted_count;
    struct sent sent[IN_FLIGHT];
    unsigned sent_count;
} hub;

static struct scored_object *object_named(const char *name) {
    for (int i = 0; i < CLUSTERS * SHARDS; i++)
        if (hub.objects[i].name[0] == '\0' || strcmp(hub.objects[i].name, name) == 0) {
            (void)snprintf(hub.objects[i].name, sizeof hub.objects[i].name, "%s", name);
            return &hub.objects[i];
        }
    fail_msg("one object more than there should be: %s", name);
    return NULL;
}

/* As an API server does: whoever names another version than the object's has a conflict. */
static int land(const struct write *w) {
    cJSON *body = cJSON_ParseWithLength(w->body.p, w->body.n);
    cJSON *meta = cJSON_GetObjectItem(body, "metadata");
    const char *version = cJSON_GetStringValue(cJSON_GetObjectItem(meta, "resourceVersion"));
    char name[64], text[16];
    (void)snprintf(name, sizeof name, "%s/%s",
                   cJSON_GetStringValue(cJSON_GetObjectItem(meta, "namespace")),
                   cJSON_GetStringValue(cJSON_GetObjectItem(meta, "name")));
    struct scored_object *o = object_named(name);
    const unsigned made_from = version != NULL ? (unsigned)strtoul(version, NULL, 10) : 0;
    hub.writes++;
    if (made_from != o->version) {
        hub.conflicts++;
        cJSON_Delete(body);
        return 409;
    }
    o->version = ++hub.version;
    const cJSON *scores = cJSON_GetObjectItem(cJSON_GetObjectItem(body, "status"), "scores");
    hub.items += (unsigned)cJSON_GetArraySize(scores) - o->items;
    o->items = (unsigned)cJSON_GetArraySize(scores);
    (void)snprintf(text, sizeof text, "%u", o->version);
    cJSON_DeleteItemFromObject(meta, "resourceVersion");
    (void)cJSON_AddStringToObject(meta, "resourceVersion", text);
    char *json = cJSON_PrintUnformatted(body);
    give(FLEET_SCORES, json);
    free(json);
    cJSON_Delete(body);
    return 200;
}

static void note_offers(void) {
    struct planner_offer offer;
    struct strbuf name = {0};
    for (; planner_next(planner, &name, &offer); strbuf_clear(&name)) {
        if (offer.what != OWNED_SCORE)
            continue;
        assert_true(hub.wanted_count < WANTED);
        char *at = hub.wanted[(hub.wanted_first + hub.wanted_count++) % WANTED];
        (void)snprintf(at, sizeof hub.wanted[0], "%.*s", (int)name.n, name.p);
    }
    strbuf_done(&name);
}

static void send_some(void) {
    while (hub.wanted_count > 0 && hub.sent_count < IN_FLIGHT) {
        struct sent *s = &hub.sent[hub.sent_count];
        *s = (struct sent){.write = {.verb = WRITE_NOTHING}};
        memcpy(s->name, hub.wanted[hub.wanted_first], sizeof s->name);
        hub.wanted_first = (hub.wanted_first + 1) % WANTED;
        hub.wanted_count--;
        planner_take(planner, str_of(s->name), &s->write);
        hub.sent_count += s->write.verb != WRITE_NOTHING;
    }
}

static void land_first(void) {
    struct sent s = hub.sent[0];
    memmove(hub.sent, hub.sent + 1, --hub.sent_count * sizeof s);
    const int status = land(&s.write);
    ended(s.name, status == 200 ? WRITE_DONE : WRITE_CONFLICT, status);
    strbuf_done(&s.write.path);
    strbuf_done(&s.write.body);
}

/* A hundred Placements want an item in each of four clusters. */
static void items_of_one_object_go_together(void **state) {
    (void)state;
    char text[700];
    memset(&hub, 0, sizeof hub);
    for (int i = 1; i < CLUSTERS; i++) {
        (void)snprintf(text, sizeof text, "{'metadata':{'name':'c%d','labels':{'zone':'a'}}}", i);
        give(FLEET_CLUSTERS, text);
    }
    planner_lead(planner, true);
    for (int i = 0; i < SHARERS; i++) {
        (void)snprintf(text, sizeof text,
                       "{'metadata':{'name':'p%d','namespace':'n','uid':'u%d','resourceVersion':"
                       "'1','annotations':{'" PLACEMENT_MODE_ANNOTATION "':'Scores'}}," SPEC "}",
                       i, i);
        give(FLEET_PLACEMENTS, text);
    }
    while (hub.items < CLUSTERS * SHARERS) {
        note_offers();
        send_some();
        if (hub.sent_count > 0)
            land_first();
        else
            wait_sem(&offered, "nobody wants to write, and not all is written");
    }
    assert_true(50 * hub.conflicts <= hub.writes);
    /* Alone each item takes a write. How many go together depends on how the threads run. */
    assert_true(hub.writes <= CLUSTERS * SHARERS * 6 / 10);
}

/* ---- who waits for one object ---- */

enum { WAITERS = 3 };

/* Placements of one shard, so that they want items of one object. Returns the next uid to try. */
static unsigned place_waiters(int from, int to, unsigned uid) {
    for (int i = from; i < to; i++) {
        char text[700];
        do
            (void)snprintf(text, sizeof text, "w%u", uid++);
        while (injected_key_of(str_of(text), SHARDS).shard != 0);
        (void)snprintf(text, sizeof text,
                       "{'metadata':{'name':'w%d','namespace':'n','uid':'w%u','resourceVersion':"
                       "'1','annotations':{'" PLACEMENT_MODE_ANNOTATION "':'Scores'}}," SPEC "}",
                       i, uid - 1);
        give(FLEET_PLACEMENTS, text);
        (void)snprintf(text, sizeof text, "n/w%d", i);
        is_offered(text);
    }
    return uid;
}

static void are_all_gone(void) {
    const int64_t until_ms = clock_real()->now_ms(clock_real()) + 10000;
    while (planner_inside_count(planner) > 0) {
        assert_true(clock_real()->now_ms(clock_real()) < until_ms);
        (void)sched_yield();
    }
    planner_inside_is_empty(planner);
}

/* Whichever goes, the others are planned when the object is seen. */
static void one_that_waits_goes(int gone) {
    char names[WAITERS][8];
    struct strbuf name = {0};
    struct planner_offer offer;
    planner_lead(planner, true);
    const unsigned uid = place_waiters(0, WAITERS, 0);
    is_taken("n/w1", WRITE_CREATE, "AddOnPlacementScore");
    is_taken("n/w0", WRITE_NOTHING, ""); /* w1's write is all of theirs */
    is_taken("n/w2", WRITE_NOTHING, "");
    (void)place_waiters(WAITERS, WAITERS + 1, uid);
    is_taken("n/w3", WRITE_NOTHING, ""); /* it waits until that is seen */
    drop(FLEET_PLACEMENTS, "n", "w3");
    ended("n/w1", WRITE_DONE, 201);
    placement("y", "1");
    is_offered("n/y"); /* and they have been told */
    for (int i = 0; i < WAITERS; i++)
        (void)snprintf(names[i], sizeof names[i], "w%d", i);
    drop(FLEET_PLACEMENTS, "n", names[gone]);
    placement("z", "1");
    is_offered("n/z"); /* it is planned, which was before */
    assert_false(planner_next(planner, &name, &offer));
    give(FLEET_SCORES, "{'metadata':{'name':'evenkeel-0','namespace':'c','resourceVersion':'7'},"
                       "'status':{}}");
    char others[2][32];
    for (int i = 0, n = 0; i < WAITERS; i++)
        if (i != gone)
            (void)snprintf(others[n++], sizeof others[0], "n/%s", names[i]);
    are_offered(others[0], others[1]);
    is_taken(others[1], WRITE_APPLY, "\"resourceVersion\":\"7\"");
    ended(others[1], WRITE_BUSY, 429); /* there is nothing to be seen: they try again */
    are_offered(others[0], others[1]);
    is_taken(others[0], WRITE_APPLY, "\"resourceVersion\":\"7\"");
    ended(others[0], WRITE_DONE, 200);
    for (int i = 0; i < WAITERS; i++)
        if (i != gone)
            drop(FLEET_PLACEMENTS, "n", names[i]);
    drop(FLEET_PLACEMENTS, "n", "y");
    drop(FLEET_PLACEMENTS, "n", "z");
    are_all_gone();
    strbuf_done(&name);
}

static void the_first_that_waits_goes(void **state) {
    (void)state;
    one_that_waits_goes(0);
}

static void the_second_that_waits_goes(void **state) {
    (void)state;
    one_that_waits_goes(1);
}

static void the_third_that_waits_goes(void **state) {
    (void)state;
    one_that_waits_goes(2);
}

/* All three want to heed their scores instead, without an item in the one cluster. */
static void give_up_the_object(int from, int to) {
    unsigned seen = 0;
    while (seen != (1u << to) - (1u << from)) {
        struct strbuf name = {0};
        struct planner_offer offer;
        while (!planner_next(planner, &name, &offer))
            wait_sem(&offered, "a Placement waits for an object that is denied");
        strbuf_append_char(&name, '\0');
        const int i = name.p[3] - '0'; /* "n/w1" */
        struct write w = {.verb = WRITE_NOTHING};
        planner_take(planner, str_of(name.p), &w);
        strbuf_append_char(&w.body, '\0');
        assert_null(strstr(w.body.p, "AddOnPlacementScore\",\"metadata"));
        seen |= w.verb == WRITE_MERGE ? 1u << i : 0;
        strbuf_done(&name);
        strbuf_done(&w.path);
        strbuf_done(&w.body);
    }
}

/* One denial is that of all Placements, also of one that comes later. */
static void a_denied_object_is_not_tried_again(void **state) {
    (void)state;
    give(FLEET_SCORES, "{'metadata':{'name':'evenkeel-0','namespace':'c','resourceVersion':'7'},"
                       "'status':{}}");
    planner_lead(planner, true);
    const unsigned uid = place_waiters(0, WAITERS, 0);
    is_taken("n/w1", WRITE_APPLY, "\"resourceVersion\":\"7\"");
    ended("n/w1", WRITE_REFUSED, 403);
    give_up_the_object(0, WAITERS);
    (void)place_waiters(WAITERS, WAITERS + 1, uid);
    is_taken("n/w3", WRITE_MERGE, PLACEMENT_INJECTED_ANNOTATION);
}

static void who_does_not_lead_counts_nothing(void **state) {
    (void)state;
    planner_lead(planner, true);
    (void)place_waiters(0, WAITERS, 0);
    planner_lead(planner, false);
    are_all_gone();
}

/* Terms that only a policy has, which comes when the Placement is there, and changes, and goes. */
static void terms_of_policies(void **state) {
    (void)state;
#define POLICY(version, key)                                                                       \
    "{\"metadata\":{\"name\":\"by\",\"uid\":\"y\",\"resourceVersion\":\"" version                  \
    "\"},\"spec\":{\"placements\":{\"spread\":[{\"topologyKey\":\"" key                            \
    "\",\"topologyKeyType\":\"Label\"}]}}}"
    struct placement_told told;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    give(FLEET_NAMESPACES, "{'metadata':{'name':'n'}}");
    planner_lead(planner, true);
    give(FLEET_PLACEMENTS, "{'metadata':{'name':'p','namespace':'n','uid':'u','resourceVersion':'1'"
                           "," OWNER "},'spec':{}}");
    placement("z", "1");
    is_offered("n/z"); /* p was planned before it, and has no terms */
    is_taken("n/p", WRITE_NOTHING, "");
    assert_int_equal(policy_live_apply(policies, STR(POLICY("1", "zone")), NULL), 0);
    while (true) { /* z is planned again, too */
        struct strbuf name = {0};
        struct planner_offer offer;
        while (!planner_next(planner, &name, &offer))
            wait_sem(&offered, "a policy's terms do not count");
        const bool is_p = str_eq(strbuf_str(&name), STR("n/p"));
        strbuf_done(&name);
        if (is_p)
            break;
    }
    is_taken("n/p", WRITE_MERGE, PLACEMENT_DISABLE_ANNOTATION);
    ended("n/p", WRITE_BUSY, 429);
    are_offered("n/p", "n/p");
    assert_int_equal(policy_live_remove(policies, STR("by"), NULL), 0);
    const int64_t until_ms = clock_real()->now_ms(clock_real()) + 10000;
    do { /* it is looked whether policies have changed each second */
        assert_true(clock_real()->now_ms(clock_real()) < until_ms);
        (void)sched_yield();
        arena_reset(&arena);
        assert_int_equal(placement_history_read(history, STR("n"), STR("p"), &arena, &told), 0);
    } while (told.is_seen && strcmp(told.standing.mode, "Owner") == 0);
    is_taken("n/p", WRITE_NOTHING, "");
    arena_done(&arena);
}

/* One namespace's Placements wait for their own: that of another is the second, whenever it comes.
 */
static void namespaces_take_turns(void **state) {
    (void)state;
    enum { MANY = 50 };
    struct strbuf name = {0};
    struct planner_offer offer;
    bool seen = false;
    int before = 0;
    give(FLEET_BINDINGS, "{'metadata':{'name':'all','namespace':'quiet'}}");
    planner_lead(planner, true);
    pause_planner();
    for (int i = 0; i < MANY; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "p%d", i);
        placement(text, "1");
    }
    placement_in("quiet", "q", "1");
    atomic_store(&ready, true);
    planner_changed_all(planner);
    for (int i = 0; !seen; before += !seen) {
        strbuf_clear(&name);
        while (!planner_next(planner, &name, &offer))
            wait_sem(&offered, "nothing is offered");
        seen = str_eq(strbuf_str(&name), STR("quiet/q"));
        assert_true(++i <= MANY + 1);
        assert_false(offer.urgent);
    }
    assert_true(before <= 1);
    strbuf_done(&name);
}

/* Until all that it needs to leave a cluster that is gone is written, its writes are urgent. */
static void moves_from_what_is_lost_are_urgent(void **state) {
    (void)state;
    static const char placement_text[] =
        "{'metadata':{'name':'p','namespace':'n','uid':'u','resourceVersion':'1'"
        ",'annotations':{'" PLACEMENT_MODE_ANNOTATION "':'Owner','" PLACEMENT_DISABLE_ANNOTATION
        "':'true'}}," SPEC "}";
    static const char decision_text[] =
        "{'metadata':{'name':'p-decision-1','namespace':'n','uid':'d','resourceVersion':'%s',"
        "'labels':{'" PLACEMENT_LABEL "':'p','" PLACEMENT_GROUP_INDEX_LABEL
        "':'0','" PLACEMENT_GROUP_NAME_LABEL "':''},'ownerReferences':[{'controller':true,"
        "'uid':'u'}]},'status':{'decisions':[{'clusterName':'c'}%s]}}";
    char text[600];
    planner_lead(planner, true);
    give(FLEET_PLACEMENTS, placement_text);
    (void)snprintf(text, sizeof text, decision_text, "1", "");
    give(FLEET_DECISIONS, text);
    is_offered_as("n/p", OWNED_STATUS, false);
    give(FLEET_CLUSTERS, "{'metadata':{'name':'b','labels':{'zone':'a'}}}");
    is_offered_as("n/p", OWNED_DECISION, false);
    is_taken("n/p", WRITE_MERGE, "\"b\"");
    (void)snprintf(text, sizeof text, decision_text, "2", ",{'clusterName':'b'}");
    ended("n/p", WRITE_DONE, 200);
    give(FLEET_DECISIONS, text);
    is_offered_as("n/p", OWNED_STATUS, false);
    drop(FLEET_CLUSTERS, "", "c");
    is_offered_as("n/p", OWNED_DECISION, true);
    is_taken("n/p", WRITE_MERGE, "\"b\"");
}

/* What it has done is kept while it leads, and as long as there is such a Placement. */
static void what_it_did_is_kept(void **state) {
    (void)state;
    struct placement_told told;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    assert_int_equal(placement_history_read(history, STR("n"), STR("p"), &arena, &told), 0);
    assert_false(told.leads);
    planner_lead(planner, true);
    give(FLEET_PLACEMENTS, "{'metadata':{'name':'p','namespace':'n','uid':'u','resourceVersion':'1'"
                           ",'annotations':{'" PLACEMENT_MODE_ANNOTATION
                           "':'Owner','" PLACEMENT_DISABLE_ANNOTATION "':'true'}}," SPEC "}");
    is_offered("n/p");
    assert_int_equal(placement_history_read(history, STR("n"), STR("p"), &arena, &told), 0);
    assert_true(told.leads && told.is_seen);
    assert_string_equal(told.standing.mode, "Owner");
    assert_string_equal(told.standing.waits, "write");
    assert_int_equal(told.move_count, 1);
    assert_string_equal(told.moves[0].reason, "size");
    assert_str(told.moves[0].added[0], "c");
    drop(FLEET_PLACEMENTS, "n", "p");
    placement("q", "1");
    is_offered("n/q"); /* p was looked at before it */
    assert_int_equal(placement_history_read(history, STR("n"), STR("p"), &arena, &told), 0);
    assert_true(told.leads);
    assert_false(told.is_seen);
    planner_lead(planner, false);
    assert_int_equal(placement_history_read(history, STR("n"), STR("q"), &arena, &told), 0);
    assert_false(told.leads || told.is_seen);
    arena_done(&arena);
}

/* Its plan costs as many steps as several turns have: 1,500 clusters, 500 predicates. */
static void dear_placement(const char *name) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_appendf(&text,
                   "{'metadata':{'name':'%s','namespace':'n','uid':'u','resourceVersion':'1'," OWNER
                   "},'spec':{'predicates':[",
                   name);
    for (unsigned i = 0; i < 500; i++)
        strbuf_appendf(&text,
                       "%s{'requiredClusterSelector':{'labelSelector':{'matchLabels':{'zone':'%u'"
                       "}}}}",
                       i > 0 ? "," : "", i);
    strbuf_appendf(&text, "]," TERMS "}}%c", '\0');
    give(FLEET_PLACEMENTS, text.p);
}

/* A plan of 30 ms holds up the watch for 25 ms more than it may. For so long no other plan of the
 * namespace is made, but those of others. */
static void the_watch_has_its_time(void **state) {
    char text[100];
    (void)state;
    for (unsigned i = 0; i < 1500; i++) {
        (void)snprintf(text, sizeof text, "{'metadata':{'name':'c%u','labels':{'zone':'a'}}}", i);
        give(FLEET_CLUSTERS, text);
    }
    dear_placement("p");
    dear_placement("q");
    atomic_store(&next_plan_ms, 30);
    planner_lead(planner, true);
    is_offered("n/p");
    placement_in("m", "other", "1");
    is_offered("m/other");
    frozen.at_ms += 24;
    placement_in("m", "another", "1");
    is_offered("m/another");
    frozen.at_ms++;
    is_offered("n/q");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(scores_that_are_seen),
        TEST(only_a_leader_plans),
        TEST(a_change_is_planned),
        TEST(ends_of_writes),
        TEST(nothing_before_all_is_known),
        TEST(what_it_did_is_kept),
        TEST(namespaces_take_turns),
        TEST(terms_of_policies),
        TEST(who_does_not_lead_counts_nothing),
        TEST(a_denied_object_is_not_tried_again),
        TEST(the_first_that_waits_goes),
        TEST(the_second_that_waits_goes),
        TEST(the_third_that_waits_goes),
        TEST(items_of_one_object_go_together),
        TEST(moves_from_what_is_lost_are_urgent),
        cmocka_unit_test_setup_teardown(the_watch_has_its_time, setup_frozen, teardown),
    };
    return cmocka_run_group_tests_name("planner", tests, NULL, NULL);
}
