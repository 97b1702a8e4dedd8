/*
 * Plays seeds of a simulated hub:
 *
 *     sim-hub [--seeds N] [--seed S] [--rounds M] [--clusters C] [--verbose]
 *
 * --seeds N: N seeds from --seed S on (1000, 1); --rounds M: rounds of each (8; large fleets 3);
 * --clusters C: of each fleet (as its seed has it); --verbose: what happens, and the program's own
 * log. The last line says how many passed. A run of COVERING_SEEDS or more must have seen
 * everything that can happen, else it fails. The digest is of all that happened: the same program
 * has the same one for the same seeds.
 */
#include "base/log.h"
#include "sim/hub/world.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { COVERING_SEEDS = 500, DEFAULT_SEEDS = 1000, DEFAULT_ROUNDS = 8, FAILURES_SHOWN = 5 };

const char *const happening_names[HAPPENINGS] = {
    [REQUEST_GOOD] = "request: good",
    [REQUEST_BUSY] = "request: 429",
    [REQUEST_ERROR] = "request: 500",
    [REQUEST_DONE_LATE] = "request: 504, and it was done",
    [REQUEST_FORBIDDEN] = "request: 403",
    [REQUEST_LOST] = "request: lost on its way",
    [REQUEST_ANSWER_LOST] = "request: done, and the answer lost",
    [REQUEST_STALE] = "request: arrives when nobody waits for it",
    [REQUEST_CONFLICT] = "request: 409",
    [REQUEST_GONE] = "request: 404",
    [WATCH_LAGS] = "watch: behind by seconds",
    [WATCH_EXPIRED] = "watch: 410",
    [LISTING_GIVEN_UP] = "watch: a listing given up",
    [REPLICA_PAUSED] = "replica: paused",
    [REPLICA_KILLED] = "replica: killed",
    [LEADER_CHANGED] = "replica: begins to lead",
    [STALE_WRITE_LANDED] = "replica: a write lands, and another one leads",
    [CLUSTER_ADDED] = "cluster: added",
    [CLUSTER_DELETED] = "cluster: deleted",
    [CLUSTER_TAINTED] = "cluster: tainted or not any more",
    [CLUSTER_MOVED] = "cluster: other labels",
    [ZONE_LOST] = "cluster: a zone lost",
    [HEARTBEAT] = "cluster: heartbeat",
    [SCORE_CHANGED] = "score: changed",
    [SCORE_ENDS] = "score: valid for a while",
    [NUMBER_CHANGED] = "placement: another number",
    [TERMS_CHANGED] = "placement: other terms",
    [TERMS_REMOVED] = "placement: terms removed",
    [GROUPS_CHANGED] = "placement: other groups",
    [MODE_ON] = "placement: mode Owner",
    [MODE_SCORED] = "placement: mode Scores",
    [MODE_OFF] = "placement: mode Off, or none",
    [PLACEMENT_DELETED] = "placement: deleted",
    [PLACEMENT_MADE] = "placement: made anew",
    [ANNOTATION_TAKEN] = "placement: OCM's annotation taken away",
    [DECISION_DELETED] = "decision: deleted by somebody",
    [DECISION_REPLACED] = "decision: replaced by somebody",
    [LABEL_LOST] = "decision: labels lost",
    [FOREIGN_MADE] = "decision: of another controller",
    [INJECTION_TAKEN] = "placement: our prioritizer taken away",
    [SCORE_OBJECT_DELETED] = "score: an object of ours deleted by somebody",
    [ITEM_TAKEN] = "score: an item taken by somebody",
    [ITEM_THEIRS] = "score: an item of somebody else's",
    [ITEM_DEAD] = "score: an item of no Placement, by somebody",
    [CROWD_CHANGED] = "crowd: a Placement changed, made or deleted",
    [NAMESPACE_LATE] = "cluster: its namespace comes later",
    [OCM_WROTE] = "OCM: wrote",
    [OCM_WROTE_OVER] = "OCM: wrote though it is disabled",
    [OCM_LAGS] = "OCM: a watch behind by seconds",
    [OCM_MIXES] = "OCM: scores that change while it reads them",
    [OCM_PAUSED] = "OCM: paused",
    [COLLECTED] = "garbage collected",
    [WROTE_DECISION] = "Evenkeel: wrote a PlacementDecision",
    [WROTE_STATUS] = "Evenkeel: wrote a status",
    [WROTE_ANNOTATIONS] = "Evenkeel: wrote annotations",
    [CHANGED_OBJECT] = "Evenkeel: took a cluster to another object",
    [BROKE_HARD_TERM] = "Evenkeel: broke a hard term for a moment",
    [MADE_SCORE_OBJECT] = "Evenkeel: made an AddOnPlacementScore",
    [WROTE_ITEM] = "Evenkeel: wrote an item",
    [TOOK_ITEM] = "Evenkeel: took an item away",
    [WROTE_ITEMS] = "Evenkeel: wrote items of several Placements at once",
    [SWEPT] = "Evenkeel: swept an object",
    [INJECTED] = "Evenkeel: had OCM heed scores",
    [GATED] = "Evenkeel: put a gate in",
    [TOOK_INJECTION] = "Evenkeel: took its own out of a spec",
    [FOUND_REFUSED] = "Evenkeel: found a refused cluster",
    [TRIED_AGAIN] = "Evenkeel: tried a refused cluster again",
    [BROKE_ITEMS] = "Evenkeel: broke a hard term of scores for a moment",
    [PLANNED_BEFORE] = "Evenkeel: planned one of the crowd while one of n waited",
    [WRITTEN_BEFORE] = "Evenkeel: wrote for the crowd while a write of n waited",
    [LARGE_FLEET] = "a fleet of 1,000 to 5,000 clusters",
};

struct run {
    uint64_t seed, seeds, passed, failed, steps;
    unsigned rounds, clusters;
    bool verbose;
    uint64_t happened[HAPPENINGS];
};

static bool read_options(int argc, char **argv, struct run *run) {
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'},  {"seed", required_argument, NULL, 's'},
        {"rounds", required_argument, NULL, 'm'}, {"clusters", required_argument, NULL, 'c'},
        {"verbose", no_argument, NULL, 'v'},      {0},
    };
    int option;
    bool one = false, many = false;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        int64_t number = 0;
        if (option == '?' ||
            (option != 'v' && (!str_to_i64(str_of(optarg), &number) || number < 0)))
            return false;
        if (option == 'n')
            run->seeds = (uint64_t)number, many = true;
        else if (option == 's')
            run->seed = (uint64_t)number, one = true;
        else if (option == 'm')
            run->rounds = (unsigned)number;
        else if (option == 'c')
            run->clusters = (unsigned)number;
        else
            run->verbose = true;
    }
    if (one && !many)
        run->seeds = 1;
    return optind == argc;
}

static void show_failure(const struct world *w, const struct run *run) {
    printf("seed %llu failed at step %llu: %s\n", (unsigned long long)w->seed,
           (unsigned long long)w->steps, w->failure);
    const uint64_t first = w->traced > TRACE_LINES ? w->traced - TRACE_LINES : 0;
    for (uint64_t i = first; i < w->traced; i++)
        printf("    %s\n", w->trace[i % TRACE_LINES]);
    printf("again: --seed %llu --rounds %u", (unsigned long long)w->seed, run->rounds);
    if (run->clusters > 0)
        printf(" --clusters %u", run->clusters);
    printf("\n");
}

/* Returns how many never happened that should. */
static unsigned show_happenings(const struct run *run) {
    unsigned all_never = 0;
    for (int i = 0; i < HAPPENINGS; i++) {
        const bool never = run->happened[i] == 0 && i != BROKE_HARD_TERM && i != BROKE_ITEMS;
        printf("%12llu  %s%s\n", (unsigned long long)run->happened[i], happening_names[i],
               never ? "  NEVER" : "");
        all_never += never;
    }
    return all_never;
}

int main(int argc, char **argv) {
    struct run run = {.seed = 1, .seeds = DEFAULT_SEEDS, .rounds = DEFAULT_ROUNDS};
    if (!read_options(argc, argv, &run)) {
        (void)fprintf(stderr, "usage: sim-hub [--seeds N] [--seed S] [--rounds M] [--clusters C] "
                              "[--verbose]\n");
        return 2;
    }
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    log_setup(run.verbose ? LOG_INFO : LOG_ERROR, LOG_LOGFMT, 2);
    w->verbose = run.verbose;
    uint64_t digest = 0;
    for (uint64_t i = 0; i < run.seeds; i++) {
        const bool good = world_run(w, run.seed + i, run.clusters, run.rounds, run.happened);
        run.passed += good;
        run.failed += !good;
        run.steps += w->steps;
        digest = digest * 31 + w->digest;
        if (!good && run.failed <= FAILURES_SHOWN)
            show_failure(w, &run);
    }
    free(w);
    unsigned never = show_happenings(&run);
    never = run.seeds >= COVERING_SEEDS ? never : 0;
    run.failed += never > 0;
    if (never > 0)
        printf("%u of these never happened: that is a failure\n", never);
    printf("%llu steps; digest %016llx\n", (unsigned long long)run.steps,
           (unsigned long long)digest);
    printf("%llu passed, %llu failed\n", (unsigned long long)run.passed,
           (unsigned long long)run.failed);
    return run.failed > 0;
}
