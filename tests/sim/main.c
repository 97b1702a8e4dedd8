/*
 * Plays seeds of the simulated world:
 *
 *     sim [--seeds N] [--seed S] [--steps M] [--verbose]
 *
 * --seeds N: N seeds from --seed S on (1000, 1); --steps M: about so many steps of each (4000);
 * --verbose: every step of every seed, and the program's own log. The last line says how many
 * passed. A run of COVERING_SEEDS or more must have seen every fault and every path, else it fails.
 */
#include "base/clock.h"
#include "base/log.h"
#include "sim/check.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { COVERING_SEEDS = 1000, DEFAULT_STEPS = 4000, FAILURES_SHOWN = 5 };

struct run {
    uint64_t seed, seeds, steps, passed, failed;
    bool verbose;
    int64_t virtual_ms;
    uint64_t steps_taken;
    struct coverage coverage;
};

static bool read_options(int argc, char **argv, struct run *run) {
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"steps", required_argument, NULL, 'm'},
        {"verbose", no_argument, NULL, 'v'},
        {0},
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
            run->steps = (uint64_t)number;
        else
            run->verbose = true;
    }
    if (one && !many)
        run->seeds = 1;
    return optind == argc;
}

static void show_failure(const struct sim *s) {
    printf("seed %llu failed at step %llu: %s\n", (unsigned long long)s->seed,
           (unsigned long long)s->steps, s->failure);
    uint64_t first = s->traced > TRACE_STEPS ? s->traced - TRACE_STEPS : 0;
    for (uint64_t i = first; i < s->traced; i++)
        printf("    %s\n", s->trace[i % TRACE_STEPS]);
    printf("again: --seed %llu\n", (unsigned long long)s->seed);
}

/* Prints a table; returns how many of it never happened. */
static uint32_t show_counts(const char *title, const uint64_t *counts, uint32_t n,
                            const char *(*name)(uint32_t i)) {
    uint32_t never = 0;
    printf("\n%s\n", title);
    for (uint32_t i = 0; i < n; i++) {
        printf("%12llu  %s%s\n", (unsigned long long)counts[i], name(i),
               counts[i] == 0 ? "  NEVER" : "");
        never += counts[i] == 0;
    }
    return never;
}

static const char *name_of_fault(uint32_t i) {
    return fault_name((enum fault)i);
}

static const char *name_of_path(uint32_t i) {
    return path_name((enum path)i);
}

static void play(struct run *run, struct sim *s) {
    uint64_t tenth = run->seeds / 10 > 0 ? run->seeds / 10 : 1;
    for (uint64_t i = 0; i < run->seeds; i++) {
        int64_t virtual_ms;
        s->verbose = run->verbose;
        bool good = sim_run(s, run->seed + i, run->steps, &run->coverage, &virtual_ms);
        run->virtual_ms += virtual_ms;
        run->steps_taken += s->steps;
        run->passed += good;
        run->failed += !good;
        if (!good && run->failed <= FAILURES_SHOWN)
            show_failure(s);
        uint64_t done = i + 1;
        if (done % tenth == 0 && run->seeds > 1) {
            printf("# %llu of %llu seeds, %llu failed\n", (unsigned long long)done,
                   (unsigned long long)run->seeds, (unsigned long long)run->failed);
            (void)fflush(stdout);
        }
    }
}

int main(int argc, char **argv) {
    struct run run = {.seed = 1, .seeds = COVERING_SEEDS, .steps = DEFAULT_STEPS};
    if (!read_options(argc, argv, &run)) {
        (void)fprintf(stderr, "usage: sim [--seeds N] [--seed S] [--steps M] [--verbose]\n");
        return 2;
    }
    struct sim *s = calloc(1, sizeof *s);
    if (s == NULL)
        abort();
    log_setup(run.verbose ? LOG_INFO : LOG_ERROR, LOG_LOGFMT, 2);
    checks_open();
    int64_t from_ns = clock_now_ns();
    play(&run, s);
    double seconds = (double)(clock_now_ns() - from_ns) / 1e9;
    checks_close();
    free(s);
    uint32_t never = show_counts("faults", run.coverage.faults, FAULTS, name_of_fault) +
                     show_counts("paths", run.coverage.paths, PATHS, name_of_path);
    printf("\n%.2f years of virtual time, %llu steps, in %.1f s\n",
           (double)run.virtual_ms / (365.25 * 24 * 3600 * 1000),
           (unsigned long long)run.steps_taken, seconds);
    bool uncovered = never > 0 && run.seeds >= COVERING_SEEDS;
    run.failed += uncovered;
    if (uncovered)
        printf("%u faults or paths were never seen: that is a failure\n", never);
    printf("%llu passed, %llu failed\n", (unsigned long long)run.passed,
           (unsigned long long)run.failed);
    return run.failed > 0;
}
