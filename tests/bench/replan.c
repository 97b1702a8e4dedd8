/*
 * What Owner mode takes on a large hub: 5,000 clusters in 220 zones of 10 regions, 1,000 Placements
 * of 50 clusters each with two terms, decided by the real planner, whose writes are there at once
 * (hub.h). Prints one JSON object:
 *
 *     replan [CLUSTERS PLACEMENTS]
 *
 * first_*      from 1,000 new Placements until nothing is to be written any more: planning, and
 *              the hub's part of it, in seconds; how many writes that took
 * rss_kib      of the process then
 * all_ms       CPU time of the process for planning all anew after a cluster has changed, p50,
 *              p90 and the most of 21: no decision changes
 * forced_ms    from the moment at which the watch shows a taint until the write that moves a
 *              Placement away is in the writer's hands, likewise of 51, on an idle queue. All
 *              Placements are planned because of it. `last` is until all that must move have their
 *              write
 */
#include "base/clock.h"
#include "bench/hub.h"
#include "bench/number.h"
#include "http/http.h"
#include "hub/planner.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ZONES = 220, REGIONS = 10, NUMBER = 50, AGAIN = 21, FORCED = 51, MOST = 100000 };

/* OCM's default prioritizers: with Balance, Placements do not all want the same clusters. */
#define SPEC                                                                                       \
    "'numberOfClusters':50,'spreadPolicy':{'spreadConstraints':[{'topologyKey':'region',"          \
    "'topologyKeyType':'Label','whenUnsatisfiable':'ScheduleAnyway'},{'topologyKey':'zone',"       \
    "'topologyKeyType':'Label','whenUnsatisfiable':'DoNotSchedule'}]}"

static struct hub hub;
static struct planner *planner;
static struct placement_history *history;
static uint32_t clusters;
static _Atomic uint64_t plans; /* that have begun */
static _Atomic uint64_t until; /* then `planned` is posted */
static sem_t planned, offered;
static int64_t taken_ns; /* when the last write was in our hands */

/* A look asks for the time once. */
static int64_t count_plan(void) {
    struct timespec t;
    if (atomic_fetch_add(&plans, 1) + 1 == atomic_load(&until))
        (void)sem_post(&planned);            /* it does not come near its maximum */
    (void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool is_ready(void *ctx) {
    (void)ctx;
    return true;
}

static void on_ready(void *ctx) {
    (void)ctx;
    (void)sem_post(&offered); /* likewise */
}

static void wait_for(sem_t *sem) {
    while (sem_wait(sem) != 0)
        continue; /* a signal came */
}

static int64_t cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now_ns(void) {
    return clock_ns(clock_real());
}

static void give_cluster(uint32_t i, uint32_t cpu, const char *spec) {
    const uint32_t zone = i % ZONES;
    hub_give(&hub, FLEET_CLUSTERS,
             "{'metadata':{'name':'cluster-%05u','labels':{'region':'region-%u','zone':'zone-%u',"
             "'env':'prod','cloud':'Amazon','vendor':'OpenShift','name':'cluster-%05u',"
             "'clusterID':'4f2c-%05u','openshiftVersion':'4.16.%u','feature.open-cluster-"
             "management.io/addon-work-manager':'available'}},'spec':{'hubAcceptsClient':true%s},"
             "'status':{'capacity':{'cpu':'64','memory':'256Gi'},'allocatable':{'cpu':'%u',"
             "'memory':'128Gi'},'clusterClaims':[{'name':'platform.open-cluster-management.io',"
             "'value':'AWS'},{'name':'id.k8s.io','value':'cluster-%05u'}]}}",
             i, zone % REGIONS, zone, i, i, i % 20, spec, cpu, i);
}

/* ---- the writer ---- */

/* Takes and applies one write. Returns the Placement's number; UINT32_MAX: nothing is offered. */
static uint32_t write_one(void) {
    const struct write_result done = {.end = WRITE_DONE, .status = 200};
    struct strbuf name = {0};
    struct write write = {.verb = WRITE_NOTHING};
    uint32_t i = UINT32_MAX;
    struct planner_offer offer;
    if (planner_next(planner, &name, &offer)) {
        i = hub_number(&hub, strbuf_str(&name));
        planner_take(planner, strbuf_str(&name), &write);
        taken_ns = now_ns();
        if (write.verb != WRITE_NOTHING) {
            hub_apply(&hub, i, &write);
            planner_ended(planner, strbuf_str(&name), &done);
        }
    }
    strbuf_done(&name);
    strbuf_done(&write.path);
    strbuf_done(&write.body);
    return i;
}

/* Until nothing is to be written and nothing is planned: all are planned twice without a write, for
 * some of the first time may be of a change before it. */
static void settle(void) {
    for (int quiet = 0; quiet < 2; quiet++) {
        const uint64_t before = hub.writes;
        atomic_store(&until, atomic_load(&plans) + hub.count);
        planner_changed_all(planner);
        wait_for(&planned);
        while (write_one() != UINT32_MAX)
            continue;
        quiet = hub.writes == before ? quiet : -1;
    }
    while (sem_trywait(&offered) == 0)
        continue; /* it was of that */
}

/* ---- what is measured ---- */

static int by_size(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static double ms(int64_t ns) {
    return (double)ns / 1e6;
}

static void print_times(const char *name, int64_t *ns, uint32_t count) {
    qsort(ns, count, sizeof *ns, by_size);
    printf("\"%s\":{\"p50\":%.2f,\"p90\":%.2f,\"most\":%.2f}", name, ms(ns[count / 2]),
           ms(ns[count * 9 / 10]), ms(ns[count - 1]));
}

static unsigned rss_kib(void) {
    unsigned long kib = 0;
    char line[200];
    FILE *f = fopen("/proc/self/status", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtoul(line + 6, NULL, 10);
    if (f != NULL)
        (void)fclose(f); /* it was read only */
    return (unsigned)kib;
}

static void measure_first(void) {
    const int64_t began_cpu = cpu_ns(), began = now_ns();
    for (uint32_t i = 0; i < hub.count; i++)
        hub_place(&hub, i, SPEC);
    settle();
    printf("\"first_s\":%.2f,\"first_cpu_s\":%.2f,\"first_writes\":%llu,\"rss_kib\":%u,",
           ms(now_ns() - began) / 1000, ms(cpu_ns() - began_cpu) / 1000,
           (unsigned long long)hub.writes, rss_kib());
}

/* A cluster has a core less, so orders by resources are made anew. The one that has least stays the
 * one that has least. */
static void measure_all(void) {
    int64_t ns[AGAIN];
    const uint64_t writes = hub.writes;
    for (uint32_t i = 0; i < AGAIN; i++) {
        atomic_store(&until, atomic_load(&plans) + hub.count);
        const int64_t began = cpu_ns();
        give_cluster(clusters - 1, 2 - i % 2, "");
        wait_for(&planned);
        ns[i] = cpu_ns() - began;
        settle();
    }
    if (hub.writes != writes)
        hub_fail("planning all anew has changed something");
    print_times("all_ms", ns, AGAIN);
    printf(",");
}

static uint32_t count_with(const char *cluster) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < hub.count; i++)
        count += hub_has(&hub, i, cluster);
    return count;
}

/* A cluster of the Placement falls ill; its move, and those of the others that have the cluster. */
static void force(const char *cluster, uint32_t number, uint32_t cpu, int64_t *ret_first,
                  int64_t *ret_last) {
    uint32_t left = count_with(cluster);
    const uint32_t wanted = left;
    const int64_t began = now_ns();
    give_cluster(number, cpu, ",'taints':[{'key':'ill','effect':'NoSelect'}]");
    while (left > 0) {
        wait_for(&offered);
        for (;;) {
            const uint64_t moves = hub.moves;
            if (write_one() == UINT32_MAX)
                break;
            if (hub.moves == moves)
                continue;
            *ret_first = left == wanted ? taken_ns - began : *ret_first;
            left -= 1;
        }
    }
    *ret_last = taken_ns - began;
}

static void measure_forced(void) {
    int64_t first[FORCED], last[FORCED];
    uint64_t random = 1, moved = 0;
    for (uint32_t i = 0; i < FORCED;) {
        char name[40];
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t number = (uint32_t)(random >> 33) % clusters;
        (void)snprintf(name, sizeof name, "cluster-%05u", number); /* fits */
        const uint32_t count = count_with(name);
        if (count == 0)
            continue;
        force(name, number, 4 + number % 60, &first[i], &last[i]);
        moved += count;
        give_cluster(number, 4 + number % 60, "");
        settle();
        i++;
    }
    print_times("forced_ms", first, FORCED);
    printf(",");
    print_times("forced_last_ms", last, FORCED);
    printf(",\"forced_placements\":%.1f", (double)moved / FORCED);
}

int main(int argc, char **argv) {
    uint32_t placements = 1000;
    struct err err = {0};
    clusters = 5000;
    if (argc != 1 && (argc != 3 || !number_u32(argv[1], MOST, &clusters) ||
                      !number_u32(argv[2], MOST, &placements) || clusters < 2 * NUMBER)) {
        (void)fprintf(stderr, "usage: replan [CLUSTERS PLACEMENTS]\n"); /* nowhere else */
        return 2;
    }
    http_tune_memory(); /* as in a daemon */
    hub_open(&hub, placements);
    for (uint32_t i = 0; i < clusters; i++)
        give_cluster(i, i + 1 < clusters ? 4 + i % 60 : 1, "");
    if (placement_history_new(&history, &err) != 0)
        hub_fail("%s", err.text);
    const struct planner_options options = {
        .fleet = hub.fleet,
        .history = history,
        /* no move but those that must be made */
        .settings = {.moves = {.settle_ms = 10000, .per_minute = 0}},
        .is_ready = is_ready,
        .on_ready = on_ready,
        .wall_us = count_plan};
    if (sem_init(&planned, 0, 0) != 0 || sem_init(&offered, 0, 0) != 0 ||
        planner_new(&options, &planner, &err) != 0)
        hub_fail("%s", err.text);
    const struct fleet_observer observer = {
        .changed = planner_changed, .changed_all = planner_changed_all, .ctx = planner};
    fleet_observe(hub.fleet, &observer);
    planner_lead(planner, true);
    printf("{\"clusters\":%u,\"placements\":%u,\"number\":%d,", clusters, placements, NUMBER);
    measure_first();
    measure_all();
    measure_forced();
    printf("}\n");
    fleet_observe(hub.fleet, NULL);
    planner_stop(planner);
    planner_free(planner);
    placement_history_free(history);
    hub_close(&hub);
    return 0;
}
