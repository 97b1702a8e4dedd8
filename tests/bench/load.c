/*
 * Races the extender against an echo server over TLS and prints one JSON object per case:
 *
 *     load --extender 127.0.0.1:8443 --echo 127.0.0.1:8444 --ca ca.crt --nodes 5000 --names 500
 *
 * The questions are those of kube-scheduler for waiting pods of 50 workloads in turn (or, with
 * --full, one pod and all its nodes as whole objects). Times are of whole calls, from the first
 * byte sent to the last byte of the answer read; every answer is checked. See race.h.
 */
#include "bench/number.h"
#include "bench/race.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

struct setup {
    struct race_options race;
    int64_t nodes, pods, names; /* of the state that is served, and of a question */
    int64_t extender_pid, echo_pid;
    bool full;
};

static void usage(void) {
    (void)fprintf(stderr,
                  "usage: load --extender HOST:PORT --echo HOST:PORT --ca FILE\n"
                  "            --nodes N --pods N --names N [--full]\n"
                  "            [--cert FILE --key FILE] [--connections 1] [--rounds 5]\n"
                  "            [--calls 400] [--seconds 1] [--extender-pid P --echo-pid P]\n");
}

/* ---- options ---- */

static const struct option long_options[] = {
    {"extender", required_argument, NULL, 'x'}, {"echo", required_argument, NULL, 'e'},
    {"ca", required_argument, NULL, 'a'},       {"cert", required_argument, NULL, 'C'},
    {"key", required_argument, NULL, 'k'},      {"nodes", required_argument, NULL, 'N'},
    {"pods", required_argument, NULL, 'p'},     {"names", required_argument, NULL, 'n'},
    {"full", no_argument, NULL, 'f'},           {"connections", required_argument, NULL, 'c'},
    {"rounds", required_argument, NULL, 'r'},   {"calls", required_argument, NULL, 'm'},
    {"seconds", required_argument, NULL, 's'},  {"extender-pid", required_argument, NULL, 'X'},
    {"echo-pid", required_argument, NULL, 'E'}, {NULL, 0, NULL, 0},
};

static bool set_option(struct setup *s, int option, const char *value) {
    struct race_options *race = &s->race;
    int64_t seconds;
    switch (option) {
    case 'x':
        race->extender.address = value;
        return true;
    case 'e':
        race->echo.address = value;
        return true;
    case 'a':
        race->echo.ca_file = race->extender.ca_file = value;
        return true;
    case 'C':
        race->echo.cert_file = race->extender.cert_file = value;
        return true;
    case 'k':
        race->echo.key_file = race->extender.key_file = value;
        return true;
    case 'N':
        return number_in(value, 1, 100000, &s->nodes);
    case 'p':
        return number_in(value, 0, 10000000, &s->pods);
    case 'n':
        return number_in(value, 1, 100000, &s->names);
    case 'f':
        return s->full = race->no_prioritize = true;
    case 'c':
        return number_u32(value, RACE_CONNECTIONS_MAX, &race->connections);
    case 'r':
        return number_u32(value, RACE_ROUNDS_MAX, &race->rounds);
    case 'm':
        return number_u32(value, RACE_CALLS_MAX, &race->calls);
    case 's':
        if (!number_in(value, 1, 3600, &seconds))
            return false;
        race->seconds = (double)seconds;
        return true;
    case 'X':
        return number_in(value, 1, INT32_MAX, &s->extender_pid);
    case 'E':
        return number_in(value, 1, INT32_MAX, &s->echo_pid);
    default:
        return false;
    }
}

static bool parse(struct setup *s, int argc, char **argv) {
    int option;
    *s = (struct setup){.race = {.connections = 1, .rounds = 5, .calls = 400, .seconds = 1}};
    while ((option = getopt_long(argc, argv, "c:", long_options, NULL)) != -1)
        if (!set_option(s, option, optarg))
            return false;
    return optind == argc && s->race.extender.address != NULL && s->race.echo.address != NULL &&
           s->race.echo.ca_file != NULL && s->nodes > 0 && s->names > 0 && s->names <= s->nodes &&
           (s->race.echo.cert_file == NULL) == (s->race.echo.key_file == NULL);
}

/* ---- memory of the servers ---- */

/* A line of /proc/PID/status, in KiB; 0 when the process is not known. */
static int64_t process_kib(int64_t pid, const char *key) {
    char path[64], line[256];
    (void)snprintf(path, sizeof path, "/proc/%lld/status", (long long)pid);
    FILE *file = pid > 0 ? fopen(path, "re") : NULL;
    int64_t kib = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (str_has_prefix(str_of(line), str_of(key)))
            kib = strtoll(line + strlen(key), NULL, 10);
    if (file != NULL)
        (void)fclose(file); /* only read */
    return kib;
}

/* From now on VmHWM is the peak since now. */
static void reset_peak(int64_t pid) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%lld/clear_refs", (long long)pid);
    FILE *file = pid > 0 ? fopen(path, "we") : NULL;
    if (file != NULL) {
        (void)fputs("5", file); /* where it cannot be reset, the peak is merely larger */
        (void)fclose(file);
    }
}

/* ---- what comes out ---- */

static void print_case(const struct setup *s, const char *name, const struct race_times *t,
                       const struct race_times *like, double kept, double question_bytes) {
    bool is_echo = like == NULL;
    int64_t pid = is_echo ? s->echo_pid : s->extender_pid;
    (void)printf("{\"case\":\"%s\",\"names\":%lld,\"nodes\":%lld,\"pods\":%lld,\"p50_us\":%.1f,"
                 "\"p99_us\":%.1f,\"ratio_to_echo\":%.3f,\"rss_kib\":%lld,",
                 name, (long long)s->names, (long long)s->nodes, (long long)s->pods, t->p50_us,
                 t->p99_us, t->ratio_to_echo, (long long)process_kib(pid, "VmRSS:"));
    (void)printf("\"full\":%s,\"connections\":%u,\"max_us\":%.1f,\"requests_per_s\":%.0f,"
                 "\"request_bytes\":%.0f,\"answer_bytes\":%.0f,\"names_kept\":%.0f,"
                 "\"peak_rss_kib\":%lld",
                 s->full ? "true" : "false", s->race.connections, t->max_us, t->calls_per_s,
                 question_bytes, t->answer_bytes, kept, (long long)process_kib(pid, "VmHWM:"));
    if (!is_echo)
        (void)printf(",\"sized_echo_p50_us\":%.1f,\"ratio_to_sized_echo\":%.3f", like->p50_us,
                     t->ratio_to_sized_echo);
    (void)printf("}\n");
}

static void print_all(const struct setup *s, const struct questions *q,
                      const struct race_times *times, double kept) {
    double bytes = 0;
    for (uint32_t i = 0; i < q->count; i++)
        bytes += (double)q->bodies[i].n / q->count;
    print_case(s, "echo", &times[RACER_ECHO], NULL, (double)s->names, bytes);
    print_case(s, s->full ? "full-nodes" : "filter", &times[RACER_FILTER],
               &times[RACER_LIKE_FILTER], kept, bytes);
    if (!s->full)
        print_case(s, "prioritize", &times[RACER_PRIORITIZE], &times[RACER_LIKE_PRIORITIZE],
                   (double)s->names, bytes);
}

int main(int argc, char **argv) {
    struct setup s;
    struct questions questions = {.bodies = NULL};
    struct race_times times[RACERS];
    double kept;
    struct err err = {0};
    if (!parse(&s, argc, argv)) {
        usage();
        return 2;
    }
    reset_peak(s.extender_pid);
    reset_peak(s.echo_pid);
    int r = questions_make((uint32_t)s.nodes, (uint32_t)s.names, s.full, &questions, &err);
    if (r == 0)
        r = race_run(&s.race, &questions, times, &kept, &err);
    if (r == 0)
        print_all(&s, &questions, times, kept);
    else
        (void)fprintf(stderr, "load: %s\n", err.text);
    questions_free(&questions);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
