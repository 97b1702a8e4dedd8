#include "check/scheduler.h"

#include "base/duration.h"
#include "model/labels.h"
#include "model/names.h"

#include <stdio.h>

static const int64_t ns_per_ms = 1000 * 1000;

enum {
    TIMEOUT_DEFAULT_MS = 5000, /* kube-scheduler's default timeout */
    WEIGHT_OF_SPREAD = 2,      /* weight of the in-tree PodTopologySpread plugin */
    WEIGHT_OF_EVERYTHING = 12, /* weights of all in-tree score plugins of the default profile */
};

/* Was it impossible to decode this value? Then this was reported, and the value needs no further
 * check. */
static bool is_refused(const struct judge *j, const char *path) {
    for (uint32_t i = 0; i < j->config->refused_count; i++)
        if (str_eq(j->out->items[i].path, str_of(path)))
            return true;
    return false;
}

void judge_say(const struct judge *j, enum severity severity, const char *member,
               const char *advice, const char *fmt, ...) {
    char path[160], problem[ERR_TEXT_SIZE];
    va_list args;
    (void)snprintf(path, sizeof path, "extenders[%u]%s%s", j->index, member[0] != '\0' ? "." : "",
                   member); /* members are literals: fits */
    if (is_refused(j, path))
        return;
    va_start(args, fmt);
    (void)vsnprintf(problem, sizeof problem, fmt, args); /* truncation is fine: people read it */
    va_end(args);
    uint32_t line = scheduler_config_line(j->config, j->extender->json, member, j->out->arena);
    check_report_add(j->out, severity, line, path, advice, "%s", problem);
}

/* ---- every entry: mistakes that keep kube-scheduler from starting, or change its meaning ---- */

/* upstream: component-helpers IsExtendedResourceName. */
static bool resource_name_valid(struct str name) {
    static const struct str native = {KUBERNETES_DOMAIN, sizeof KUBERNETES_DOMAIN - 1};
    if (!label_key_valid(name) || str_find(name, '/') == SIZE_MAX ||
        str_has_prefix(name, STR("requests.")))
        return false;
    for (size_t i = 0; i + native.n <= name.n; i++)
        if (memcmp(name.p + i, native.p, native.n) == 0)
            return false;
    return true;
}

/* Was this resource named before, by this entry or by an earlier entry? */
static bool resource_repeated(const struct judge *j, uint32_t resource) {
    struct str name = j->extender->resources[resource].name;
    for (uint32_t i = 0; i <= j->index; i++) {
        const struct scheduler_extender *e = &j->config->extenders[i];
        uint32_t count = i < j->index ? e->resource_count : resource;
        for (uint32_t k = 0; k < count; k++)
            if (str_eq(e->resources[k].name, name))
                return true;
    }
    return false;
}

static void judge_resource_names(const struct judge *j) {
    for (uint32_t i = 0; i < j->extender->resource_count; i++) {
        struct str name = j->extender->resources[i].name;
        if (!resource_name_valid(name))
            judge_say(j, SEVERITY_ERROR, "managedResources",
                      "write DOMAIN/NAME with a domain of your own",
                      "'%.*s' is no extended resource: kube-scheduler does not start",
                      STR_ARG(name));
        else if (resource_repeated(j, i))
            judge_say(j, SEVERITY_ERROR, "managedResources", "name each resource once",
                      "'%.*s' is named twice among all extenders: kube-scheduler does not start",
                      STR_ARG(name));
    }
}

/* kube-scheduler takes 0 for "not set". upstream: pkg/scheduler/extender.go makeTransport(),
 * NewHTTPExtender(). */
static void judge_zero_timeout(const struct judge *j) {
    const struct str text = j->extender->http_timeout;
    int64_t ns = 1;
    struct err unused; /* another rule reports texts that are no durations */
    if (text.n > 0 && duration_parse(text, &ns, &unused) == 0 && ns == 0)
        judge_say(j, SEVERITY_WARNING, "httpTimeout", "write the time that you mean, such as 1s",
                  "'%.*s' means 5s, kube-scheduler's default", STR_ARG(text));
}

static void judge_start(const struct judge *j) {
    const struct scheduler_extender *e = j->extender;
    uint32_t binders_before = 0;
    for (uint32_t i = 0; i < j->index; i++)
        binders_before += j->config->extenders[i].bind_verb.n > 0;
    if (e->prioritize_verb.n > 0 && e->weight <= 0)
        judge_say(j, SEVERITY_ERROR, "weight",
                  "set weight: 2, as much as the in-tree spread plugin",
                  "it must be above 0 with a prioritizeVerb: kube-scheduler does not start");
    if (e->bind_verb.n > 0 && binders_before > 0)
        judge_say(j, SEVERITY_ERROR, "bindVerb", "keep bindVerb in one extender",
                  "more than one extender binds: kube-scheduler does not start");
    judge_zero_timeout(j);
    judge_resource_names(j);
    judge_tls_start(j);
}

/* ---- our entry: how it behaves ---- */

static void judge_weight(const struct judge *j) {
    const struct scheduler_extender *e = j->extender;
    if (e->prioritize_verb.n == 0 && e->weight != 0)
        judge_say(j, SEVERITY_INFO, "weight", "set prioritizeVerb: prioritize",
                  "without a prioritizeVerb it has no effect");
    if (e->prioritize_verb.n == 0 || e->weight <= 0)
        return;
    if (e->weight < WEIGHT_OF_SPREAD)
        judge_say(j, SEVERITY_INFO, "weight", "2 weighs as much as the in-tree spread plugin",
                  "Evenkeel's opinion counts for half of the in-tree spread plugin's");
    if (e->weight > WEIGHT_OF_EVERYTHING)
        judge_say(j, SEVERITY_WARNING, "weight", "2 weighs as much as the in-tree spread plugin",
                  "above %d, Evenkeel's opinion can outweigh all of kube-scheduler's own scores",
                  WEIGHT_OF_EVERYTHING);
}

/* The useful timeouts of a call. A binding writes to the API server, maybe more than once. */
struct timeouts {
    int64_t least_ms, most_ms;
    const char *advice, *why_least;
};

static const struct timeouts of_answers = {100, TIMEOUT_DEFAULT_MS, "set httpTimeout: 1s",
                                           "a busy machine or a new TLS connection takes longer"};
static const struct timeouts of_bindings = {TIMEOUT_DEFAULT_MS, TIMEOUT_DEFAULT_MS,
                                            "set httpTimeout: 5s",
                                            "a binding waits for the API server, too"};

static void judge_timeout(const struct judge *j) {
    static const char why[] =
        "kube-scheduler schedules one pod at a time: an extender that hangs holds up everything";
    const struct timeouts *good = j->extender->bind_verb.n > 0 ? &of_bindings : &of_answers;
    struct str text = j->extender->http_timeout;
    int64_t ns = 0;
    struct err err;
    if (text.n > 0 && duration_parse(text, &ns, &err) != 0) {
        judge_say(j, SEVERITY_ERROR, "httpTimeout", good->advice,
                  "'%.*s' is no duration (%s): kube-scheduler refuses the file", STR_ARG(text),
                  err.text);
        return;
    }
    if (text.n == 0 && good->least_ms < TIMEOUT_DEFAULT_MS)
        judge_say(j, SEVERITY_WARNING, "httpTimeout", good->advice,
                  "it is not set, which means 5s; %s", why);
    else if (ns < 0)
        judge_say(j, SEVERITY_ERROR, "httpTimeout", good->advice, "below 0 means for ever; %s",
                  why);
    else if (ns > good->most_ms * ns_per_ms)
        judge_say(j, SEVERITY_WARNING, "httpTimeout", good->advice, "%.*s is long; %s",
                  STR_ARG(text), why);
    else if (ns > 0 && ns < good->least_ms * ns_per_ms)
        judge_say(j, SEVERITY_WARNING, "httpTimeout", good->advice, "%.*s is short: %s",
                  STR_ARG(text), good->why_least);
}

static void judge_failure(const struct judge *j) {
    const struct scheduler_extender *e = j->extender;
    if (!e->node_cache_capable)
        judge_say(j, SEVERITY_ERROR, "nodeCacheCapable", "set nodeCacheCapable: true",
                  "it is not true: every call carries whole nodes (10 kB or more each), and since "
                  "1.34 kube-scheduler takes the returned nodes for empty, so that its resource "
                  "scores are wrong");
    if (!e->ignorable)
        judge_say(j, SEVERITY_WARNING, "ignorable",
                  "set ignorable: true, or run Evenkeel where this scheduler is not needed (static "
                  "pod, another schedulerName)",
                  "it is not true: while Evenkeel is down no pod is scheduled, not even Evenkeel's "
                  "own replacement");
    else if (e->bind_verb.n > 0)
        judge_say(j, SEVERITY_INFO, "bindVerb",
                  "with reservations.mode: Conservative, and hard rules that must hold whatever "
                  "fails, set ignorable: false",
                  "kube-scheduler binds by itself what an ignorable extender refuses to bind");
}

/* Compares bindVerb with Evenkeel's own configuration. */
static void judge_bind(const struct judge *j) {
    if (!judge_is_verb(j->extender->bind_verb, extender_verbs[EXTENDER_BIND].name))
        return;
    if (j->evenkeel == NULL)
        judge_say(j, SEVERITY_WARNING, "bindVerb",
                  "set extender.bind: true in Evenkeel's configuration; with --config FILE both "
                  "files are checked together",
                  "Evenkeel binds only if its own configuration says so, otherwise every bind call "
                  "fails");
    else if (!j->evenkeel->extender.bind)
        judge_say(j, SEVERITY_ERROR, "bindVerb",
                  "set extender.bind: true (--extender-bind) there, or remove bindVerb",
                  "Evenkeel's own configuration has extender.bind off, so every bind call fails");
}

/* Reports limits of extenders that no setting changes. upstream: kube-scheduler preemption.go
 * DryRunPreemption, schedule_one.go findNodesThatFitPod (ExtenderName), framework.go
 * computeBatchablePlugins. */
static void judge_limits(const struct judge *j) {
    if (j->extender->filter_verb.n > 0)
        judge_say(j, SEVERITY_INFO, "filterVerb",
                  "'evenkeel check config' says which native constraints are the same as a rule's",
                  "kube-scheduler evicts no pod for constraints that only Evenkeel knows (hard "
                  "terms of ordered rules, hard default constraints), and after every event of the "
                  "cluster it tries again the pods for which Evenkeel refused a node");
    judge_say(j, SEVERITY_INFO, "", "",
              "kube-scheduler 1.35 and later has no opportunistic batching, for any of its pods, "
              "as soon as it has an extender");
}

static void judge_resources(const struct judge *j) {
    const struct scheduler_extender *e = j->extender;
    if (e->resource_count == 0)
        judge_say(j, SEVERITY_INFO, "managedResources", "",
                  "none: every pod of the cluster pays for the calls, those of kube-system too");
    for (uint32_t i = 0; i < e->resource_count; i++)
        if (!e->resources[i].ignored_by_scheduler)
            judge_say(j, SEVERITY_WARNING, "managedResources", "set ignoredByScheduler: true",
                      "kube-scheduler also looks for nodes that offer '%.*s'",
                      STR_ARG(e->resources[i].name));
}

/* ---- our entry among the others ---- */

/* Counts the extenders called before ours: in file order, but ignorable extenders come last. */
static uint32_t called_before(const struct judge *j) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < j->config->extender_count; i++) {
        bool other = j->config->extenders[i].ignorable, own = j->extender->ignorable;
        before += i != j->index && (other == own ? i < j->index : own);
    }
    return before;
}

static void judge_order(const struct judge *j) {
    uint32_t before = called_before(j);
    if (before > 0)
        judge_say(j, SEVERITY_INFO, "",
                  "Evenkeel does not judge nodes that these extenders reject; an extender that "
                  "says \"unresolvable\", as Evenkeel does, is best called first",
                  "%u other extender%s called before Evenkeel (ignorable ones go last)", before,
                  before == 1 ? " is" : "s are");
}

static bool judges_all_nodes(const struct scheduler_config *c) {
    if (c->profile_count == 0)
        return c->percentage_of_nodes == 100;
    for (uint32_t i = 0; i < c->profile_count; i++) {
        int64_t own = c->profiles[i].percentage_of_nodes;
        if ((own == SCHEDULER_PERCENTAGE_UNSET ? c->percentage_of_nodes : own) != 100)
            return false;
    }
    return true;
}

static void judge_percentage(const struct judge *j) {
    static const char field[] = "percentageOfNodesToScore";
    const struct scheduler_config *c = j->config;
    if (!judges_all_nodes(c) && !is_refused(j, field))
        check_report_add(
            j->out, SEVERITY_INFO,
            c->percentage_of_nodes == SCHEDULER_PERCENTAGE_UNSET
                ? 0
                : scheduler_config_line(c, c->doc.documents[0], field, j->out->arena),
            field, "with hard rules of ordered spread, set it to 100",
            "in clusters of 100 nodes and more only some nodes are handed to extenders; "
            "if no node of the emptiest domain is among them, a pod waits although a node "
            "of that domain would do");
}

/* ---- which entry is ours ---- */

static bool contains(struct str s, struct str part) {
    for (size_t i = 0; i + part.n <= s.n; i++)
        if (memcmp(s.p + i, part.p, part.n) == 0)
            return true;
    return part.n == 0;
}

/* Finds Evenkeel's entry if it has another path: its host is named after Evenkeel, or it is the
 * only entry and has no URL. Any other entry may belong to another project, and Evenkeel's settings
 * would break it. Returns UINT32_MAX if it finds no entry. */
static uint32_t find_by_name(const struct scheduler_config *c) {
    for (uint32_t i = 0; i < c->extender_count; i++)
        if (contains(c->extenders[i].url_prefix, STR("evenkeel")))
            return i;
    return c->extender_count == 1 && str_empty(c->extenders[0].url_prefix) ? 0 : UINT32_MAX;
}

/* Returns the index of Evenkeel's entry; UINT32_MAX if it is not clear which entry that is; then
 * this has been reported. */
static uint32_t find_ours(const struct scheduler_config *c, const struct scheduler_check *which,
                          struct check_report *out) {
    struct str part = str_of(which->url_part != NULL ? which->url_part : EXTENDER_PATH);
    if (which->index >= 0 && which->index < c->extender_count)
        return (uint32_t)which->index;
    if (which->index >= 0)
        check_report_add(out, SEVERITY_ERROR, 0, "extenders", "counting starts at 0",
                         "there is no extender %lld among the %u", (long long)which->index,
                         c->extender_count);
    else if (c->extender_count == 0)
        check_report_add(out, SEVERITY_ERROR, 0, "extenders", "add an entry for Evenkeel",
                         "there is none: kube-scheduler calls nobody");
    else {
        for (uint32_t i = 0; i < c->extender_count; i++)
            if (contains(c->extenders[i].url_prefix, part))
                return i;
        const uint32_t named = which->url_part == NULL ? find_by_name(c) : UINT32_MAX;
        if (named != UINT32_MAX)
            return named;
        check_report_add(out, SEVERITY_ERROR, 0, "extenders",
                         "add an entry for Evenkeel, or say which one it is: --url-prefix-contains "
                         "TEXT or --extender-index N",
                         "none of the %u has a urlPrefix with '%.*s' in it", c->extender_count,
                         STR_ARG(part));
    }
    return UINT32_MAX;
}

static void judge_others(const struct judge *j) {
    for (uint32_t i = 0; i < j->config->extender_count; i++) {
        struct judge other = *j;
        other.extender = &j->config->extenders[i];
        other.index = i;
        if (i != j->index && str_eq(judge_bare_url(other.extender->url_prefix),
                                    judge_bare_url(j->extender->url_prefix)))
            judge_say(&other, SEVERITY_WARNING, "urlPrefix", "keep one of them",
                      "extenders[%u] calls the same URL: every pod is judged twice", j->index);
    }
}

void scheduler_check(struct str text, const struct scheduler_check *which,
                     struct check_report *out) {
    struct scheduler_config config;
    if (!scheduler_config_read(text, &config, out))
        return;
    struct judge j = {
        .config = &config, .evenkeel = which->evenkeel, .secret = which->secret, .out = out};
    for (j.index = 0; j.index < config.extender_count; j.index++) {
        j.extender = &config.extenders[j.index];
        judge_start(&j);
    }
    j.index = find_ours(&config, which, out);
    if (j.index == UINT32_MAX)
        return;
    j.extender = &config.extenders[j.index];
    j.chosen = which->index >= 0 || which->url_part != NULL;
    judge_url(&j);
    judge_verbs(&j);
    judge_weight(&j);
    judge_timeout(&j);
    judge_failure(&j);
    judge_tls(&j);
    judge_certificate(&j);
    judge_bind(&j);
    judge_limits(&j);
    judge_resources(&j);
    judge_order(&j);
    judge_others(&j);
    judge_percentage(&j);
    judge_plugins(&j);
}
