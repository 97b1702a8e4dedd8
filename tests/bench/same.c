/*
 * Asks two daemons with the same state the same random questions, one after the other: each answer
 * must be the same bytes. For changes that make an answer quicker and not different.
 *
 *     same --this 127.0.0.1:8443 --that 127.0.0.1:9443 --ca ca.crt --nodes 300 [--questions 100000]
 *          [--seed 1]
 *     same --this 127.0.0.1:8443 --that 127.0.0.1:9443 --ca ca.crt --reviews /webhooks/v1/pods ...
 *
 * The questions are about the cluster of make_state. What hurries must meet what is rare, so there
 * are nodes that are not known or named twice, names with escapes and of any length, blanks between
 * them, whole Nodes, constraints on labels that some nodes or all lack, and victims. Prints the
 * seed and how many answers there were of which kind. Exits with 1 at the first difference, which
 * it prints.
 */
#include "base/random.h"
#include "bench/client.h"
#include "bench/cluster.h"
#include "bench/number.h"
#include "bench/odd_review.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { THIS, THAT, SIDES, SHOWN = 4000 };

struct setup {
    struct client_options options[SIDES];
    const char *reviews; /* the path where reviews of pods are asked, and nothing else; or NULL */
    int64_t nodes, questions, seed;
};

struct same {
    const struct setup *setup;
    struct client *clients[SIDES];
    struct strbuf body, kept; /* the question, and the first answer to it */
    uint64_t random;
    uint64_t answers, refusals, bytes;
};

static bool chance(struct same *s, uint32_t of) {
    return random_below(&s->random, of) == 0;
}

static uint32_t below(struct same *s, uint32_t n) {
    return (uint32_t)random_below(&s->random, n);
}

static const char *one_of(struct same *s, const char *const *texts, uint32_t count) {
    return texts[below(s, count)];
}
#define ONE_OF(s, ...)                                                                             \
    one_of((s), (const char *const[]){__VA_ARGS__},                                                \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* ---- questions ---- */

static void put_selector(struct same *s, struct strbuf *out) {
    if (chance(s, 8))
        strbuf_append_str(out, chance(s, 2) ? STR("{}") : STR("null"));
    else
        strbuf_appendf(out, "{\"matchLabels\":{\"app\":\"svc-%03u\"}}", below(s, 20));
}

static void put_constraint(struct same *s, struct strbuf *out) {
    bool hard = chance(s, 2);
    strbuf_appendf(out, "{\"maxSkew\":%u,\"topologyKey\":\"%s\",\"whenUnsatisfiable\":\"%s\"",
                   1 + below(s, 3),
                   ONE_OF(s, "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                          "kubernetes.io/hostname", "rack", "not/there"),
                   hard ? "DoNotSchedule" : "ScheduleAnyway");
    if (hard && chance(s, 4))
        strbuf_appendf(out, ",\"minDomains\":%u", 1 + below(s, 15));
    if (chance(s, 4))
        strbuf_appendf(out, ",\"nodeTaintsPolicy\":\"%s\"", ONE_OF(s, "Honor", "Ignore"));
    if (chance(s, 4))
        strbuf_appendf(out, ",\"nodeAffinityPolicy\":\"%s\"", ONE_OF(s, "Honor", "Ignore"));
    strbuf_append_str(out, STR(",\"labelSelector\":"));
    put_selector(s, out);
    strbuf_append_char(out, '}');
}

static void put_pod(struct same *s, struct strbuf *out) {
    uint32_t workload = below(s, 20), number = below(s, 1000000);
    strbuf_appendf(out,
                   "{\"metadata\":{\"name\":\"p-%u\",\"namespace\":\"team-%u\",\"uid\":\"u-%u\","
                   "\"labels\":{\"app\":\"svc-%03u\"}},\"spec\":{",
                   number, workload % CLUSTER_NAMESPACES, number, workload);
    if (chance(s, 8))
        strbuf_appendf(out, "\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"%s\"},",
                       ONE_OF(s, "zone-1", "region-1-a", "nowhere"));
    strbuf_append_str(out, STR("\"topologySpreadConstraints\":["));
    for (uint32_t i = 0, n = below(s, 5); i < n; i++) {
        if (i > 0)
            strbuf_append_char(out, ',');
        put_constraint(s, out);
    }
    strbuf_append_str(out, STR("]}}"));
}

/* In quotes; most are known. */
static void put_name(struct same *s, struct strbuf *out) {
    uint32_t node = below(s, (uint32_t)s->setup->nodes);
    strbuf_append_char(out, '"');
    switch (below(s, 40)) {
    case 0:
        strbuf_appendf(out, "nobody-%u", node);
        break;
    case 1:
        strbuf_appendf(out, "odd-%u", below(s, 6)); /* of same.sh */
        break;
    case 2:
        strbuf_appendf(out, "%s-%u", ONE_OF(s, "\\u006eode", "a\\\"b", "\\\\", "\xc3\xa4", "\\n"),
                       node);
        break;
    case 3:
        for (uint32_t n = below(s, 600); n > 0; n--)
            strbuf_append_char(out, (char)('a' + n % 26));
        break;
    default:
        cluster_node_name(node, out);
    }
    strbuf_append_char(out, '"');
}

static uint32_t list_length(struct same *s) {
    return chance(s, 4) ? below(s, 400) : chance(s, 2) ? below(s, 3) : below(s, 40);
}

/* Mostly in the order of the cluster, as programs write it. */
static void put_names(struct same *s, struct strbuf *out) {
    uint32_t count = list_length(s), first = below(s, (uint32_t)s->setup->nodes);
    bool clean = chance(s, 2), blanks = chance(s, 10);
    strbuf_append_str(out, STR("\"NodeNames\":["));
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            strbuf_append_str(out, blanks ? STR(" ,\n ") : STR(","));
        if (!clean) {
            put_name(s, out);
            continue;
        }
        strbuf_append_char(out, '"');
        cluster_node_name((first + i) % (uint32_t)s->setup->nodes, out);
        strbuf_append_char(out, '"');
    }
    strbuf_append_char(out, ']');
}

static void put_nodes(struct same *s, struct strbuf *out) {
    strbuf_append_str(out, STR("\"Nodes\":{\"items\":["));
    for (uint32_t i = 0, count = list_length(s) / 4; i < count; i++) {
        strbuf_append_str(out, i > 0 ? STR(",{\"metadata\":{\"name\":")
                                     : STR("{\"metadata\":{\"name\":"));
        put_name(s, out);
        strbuf_append_str(out, STR("}}"));
    }
    strbuf_append_str(out, STR("]}"));
}

static void put_victims(struct same *s, struct strbuf *out) {
    strbuf_append_str(out, STR("\"NodeNameToMetaVictims\":{"));
    for (uint32_t i = 0, count = below(s, 12); i < count; i++) {
        if (i > 0)
            strbuf_append_char(out, ',');
        put_name(s, out);
        strbuf_append_str(out, STR(":{\"Pods\":["));
        for (uint32_t n = 0, pods = below(s, 6); n < pods; n++) {
            strbuf_append_str(out, n > 0 ? STR(",{\"UID\":") : STR("{\"UID\":"));
            cluster_put_uid(((uint64_t)3 << 40) + below(s, 3000), out);
            strbuf_append_char(out, '}');
        }
        strbuf_append_str(out, STR("],\"NumPDBViolations\":0}"));
    }
    strbuf_append_char(out, '}');
}

static const char *put_question(struct same *s, struct strbuf *out) {
    if (s->setup->reviews != NULL) {
        odd_review(&s->random, out);
        return s->setup->reviews;
    }
    uint32_t kind = below(s, 16);
    strbuf_append_str(out, STR("{\"Pod\":"));
    put_pod(s, out);
    strbuf_append_char(out, ',');
    if (kind == 0)
        put_victims(s, out);
    else if (kind == 1)
        put_nodes(s, out);
    else
        put_names(s, out);
    strbuf_append_char(out, '}');
    return kind == 0       ? "/extender/v1/preempt"
           : kind % 2 == 1 ? "/extender/v1/filter"
                           : "/extender/v1/prioritize";
}

/* ---- answers ---- */

static int differ(const struct same *s, const char *path, struct str that, struct err *err) {
    (void)fprintf(stderr, "POST %s\n%.*s\nthis: %.*s\nthat: %.*s\n", path,
                  (int)(s->body.n > SHOWN ? SHOWN : s->body.n), s->body.p,
                  (int)(s->kept.n > SHOWN ? SHOWN : s->kept.n), s->kept.p,
                  (int)(that.n > SHOWN ? SHOWN : that.n), that.p);
    return err_set(err, -1, "answer %llu differs", (unsigned long long)s->answers);
}

static int ask_both(struct same *s, struct err *err) {
    struct answer answers[SIDES];
    strbuf_clear(&s->body);
    strbuf_clear(&s->kept);
    const char *path = put_question(s, &s->body);
    for (int side = 0; side < SIDES; side++) {
        int r = client_post(s->clients[side], path, strbuf_str(&s->body), &answers[side], err);
        if (r != 0)
            return r;
        if (side == THIS)
            strbuf_append_str(&s->kept, answers[THIS].body);
    }
    s->answers++;
    s->refusals += answers[THIS].status != 200;
    s->bytes += s->kept.n;
    bool equal = answers[THIS].status == answers[THAT].status &&
                 str_eq(strbuf_str(&s->kept), answers[THAT].body);
    return equal ? 0 : differ(s, path, answers[THAT].body, err);
}

static const struct option long_options[] = {
    {"this", required_argument, NULL, 'i'},    {"that", required_argument, NULL, 'a'},
    {"ca", required_argument, NULL, 'c'},      {"nodes", required_argument, NULL, 'n'},
    {"reviews", required_argument, NULL, 'r'}, {"questions", required_argument, NULL, 'q'},
    {"seed", required_argument, NULL, 's'},    {NULL, 0, NULL, 0},
};

static bool set_option(struct setup *s, int option, const char *value) {
    switch (option) {
    case 'i':
        s->options[THIS].address = value;
        return true;
    case 'a':
        s->options[THAT].address = value;
        return true;
    case 'c':
        s->options[THIS].ca_file = s->options[THAT].ca_file = value;
        return true;
    case 'n':
        return number_in(value, 1, 100000, &s->nodes);
    case 'r':
        s->reviews = value;
        return true;
    case 'q':
        return number_in(value, 1, 100000000, &s->questions);
    case 's':
        return number_in(value, 0, INT64_MAX, &s->seed);
    default:
        return false;
    }
}

static bool parse(struct setup *s, int argc, char **argv) {
    int option;
    *s = (struct setup){.questions = 100000, .seed = 1};
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!set_option(s, option, optarg))
            return false;
    return optind == argc && s->options[THIS].address != NULL && s->options[THAT].address != NULL &&
           s->options[THIS].ca_file != NULL && (s->nodes > 0 || s->reviews != NULL);
}

int main(int argc, char **argv) {
    struct setup setup;
    struct err err = {0};
    if (!parse(&setup, argc, argv)) {
        (void)fprintf(stderr, "usage: same --this HOST:PORT --that HOST:PORT --ca FILE\n"
                              "            {--nodes N | --reviews PATH} [--questions 100000]\n"
                              "            [--seed 1]\n");
        return 2;
    }
    struct same s = {.setup = &setup, .random = (uint64_t)setup.seed};
    int r = 0;
    for (int side = 0; r == 0 && side < SIDES; side++)
        r = client_open(&setup.options[side], &s.clients[side], &err);
    while (r == 0 && s.answers < (uint64_t)setup.questions)
        r = ask_both(&s, &err);
    (void)printf("seed %lld: %llu answers, of which %llu refused, %llu bytes: %s\n",
                 (long long)setup.seed, (unsigned long long)s.answers,
                 (unsigned long long)s.refusals, (unsigned long long)s.bytes,
                 r == 0 ? "all the same" : err.text);
    for (int side = 0; side < SIDES; side++)
        client_close(s.clients[side]);
    strbuf_done(&s.body);
    strbuf_done(&s.kept);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
