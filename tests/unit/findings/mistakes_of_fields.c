/* Fields that are misspelt, at another level, or of nothing; versions that have ended; kinds
 * that no API server has. */
#include "unit/findings/mistakes.h"

#include <stdio.h>
#include <string.h>

static struct place *draw_place(struct drawn *d, struct place places[DRAWN_PLACES]) {
    return &places[drawn_below(d, drawn_places(d, places))];
}

static void path_of(const struct place *p, const char *name, char ret[2 * DRAWN_PATH]) {
    (void)snprintf(ret, (size_t)2 * DRAWN_PATH, "%s%s%s", p->path, p->path[0] != '\0' ? "." : "",
                   name);
}

/* ---- misspelt ---- */

/* Beside the right one, which keeps other findings out. */
static void misspell(struct drawn *d) {
    static struct place places[DRAWN_PLACES];
    static char remedy[128];
    char wrong[96], path[2 * DRAWN_PATH];
    const cJSON *member;
    struct place *p;
    do {
        p = draw_place(d, places);
        const int n = cJSON_GetArraySize(p->object);
        member = n > 0 ? cJSON_GetArrayItem(p->object, (int)drawn_below(d, (uint32_t)n)) : NULL;
    } while (member == NULL || strlen(member->string) < 4);
    drawn_misspell(d, member->string, wrong, sizeof wrong);
    (void)snprintf(remedy, sizeof remedy, "Write %s", member->string);
    path_of(p, wrong, path);
    drawn_want(d, FINDING_UNKNOWN_FIELD, remedy, "%s", path);
    drawn_set(p->object, wrong, cJSON_Duplicate(member, true));
}

/* ---- at another level ---- */

struct misplaced {
    enum drawn_subject subject;
    const char *name, *home; /* of pods: behind the path of the spec */
};
static const struct misplaced misplaced[] = {
    {SUBJECT_WORKLOAD, "topologySpreadConstraints", ""},
    {SUBJECT_WORKLOAD, "affinity", ""},
    {SUBJECT_WORKLOAD, "tolerations", ""},
    {SUBJECT_WORKLOAD, "nodeSelector", ""},
    {SUBJECT_WORKLOAD, "nodeName", ""},
    {SUBJECT_WORKLOAD, "priorityClassName", ""},
    {SUBJECT_WORKLOAD, "nodeAffinity", ".affinity"},
    {SUBJECT_WORKLOAD, "podAntiAffinity", ".affinity"},
    {SUBJECT_WORKLOAD, "maxSkew", ".topologySpreadConstraints[]"},
    {SUBJECT_WORKLOAD, "whenUnsatisfiable", ".topologySpreadConstraints[]"},
    {SUBJECT_WORKLOAD, "minDomains", ".topologySpreadConstraints[]"},
    {SUBJECT_WORKLOAD, "nodeTaintsPolicy", ".topologySpreadConstraints[]"},
    {SUBJECT_PLACEMENT, "numberOfClusters", "spec"},
    {SUBJECT_PLACEMENT, "clusterSets", "spec"},
    {SUBJECT_PLACEMENT, "predicates", "spec"},
    {SUBJECT_PLACEMENT, "tolerations", "spec"},
    {SUBJECT_PLACEMENT, "maxSkew", "spec.spreadPolicy.spreadConstraints[]"},
    {SUBJECT_PLACEMENT, "topologyKey", "spec.spreadPolicy.spreadConstraints[]"},
    {SUBJECT_PLACEMENT, "spreadConstraints", "spec.spreadPolicy"},
    {SUBJECT_PLACEMENT, "configurations", "spec.prioritizerPolicy"},
    {SUBJECT_BINDING, "clusterTolerations", "spec.placement"},
    {SUBJECT_BINDING, "spreadConstraints", "spec.placement"},
    {SUBJECT_BINDING, "replicaScheduling", "spec.placement"},
    {SUBJECT_BINDING, "maxGroups", "spec.placement.spreadConstraints[]"},
    {SUBJECT_BINDING, "spreadByLabel", "spec.placement.spreadConstraints[]"},
    {SUBJECT_BINDING, "weightPreference", "spec.placement.replicaScheduling"},
};

/* Is the place that of the home? Items of lists are alike. */
static bool is_home(const char *path, const char *home) {
    while (*path != '\0' && *path == *home) {
        if (*path == '[')
            path += strspn(path + 1, "0123456789");
        path++;
        home++;
    }
    return *path == *home;
}

static void misplace(struct drawn *d) {
    static struct place places[DRAWN_PLACES];
    static char remedy[DRAWN_PATH + 16];
    const enum drawn_subject subject =
        d->subject == SUBJECT_PROPAGATION ? SUBJECT_BINDING : d->subject;
    char home[DRAWN_PATH], path[2 * DRAWN_PATH];
    const struct misplaced *m;
    struct place *p;
    do
        m = &misplaced[drawn_below(d, sizeof misplaced / sizeof misplaced[0])];
    while (m->subject != subject);
    (void)snprintf(home, sizeof home, "%s%s", d->spec != NULL ? d->spec : "", m->home);
    do
        p = draw_place(d, places);
    while (is_home(p->path, home));
    (void)snprintf(remedy, sizeof remedy, "Move it to %s", home);
    path_of(p, m->name, path);
    drawn_want(d, FINDING_UNKNOWN_FIELD, remedy, "%s", path);
    drawn_set(p->object, m->name, cJSON_CreateNumber(1));
}

/* ---- of nothing ---- */

/* Is the object known whole, so that no newer version can have other members? */
static bool is_whole(const struct drawn *d, const char *path) {
    return d->subject == SUBJECT_PLACEMENT || strstr(path, "opologySpreadConstraints[") != NULL ||
           strstr(path, ".affinity") != NULL || strstr(path, "olerations[") != NULL ||
           strstr(path, "spec.placement") != NULL || strstr(path, "resourceSelectors[") != NULL ||
           strstr(path, "spec.selector") != NULL;
}

static void invent(struct drawn *d) {
    static struct place places[DRAWN_PLACES];
    char path[2 * DRAWN_PATH];
    struct place *p = draw_place(d, places);
    path_of(p, "zzqxjzzq", path);
    if (is_whole(d, p->path))
        drawn_want(d, FINDING_UNKNOWN_FIELD, "Remove it", "%s", path);
    drawn_set(p->object, "zzqxjzzq", cJSON_CreateNumber(1));
}

/* ---- versions ---- */

static void age(struct drawn *d) {
    static const char *const configurations[] = {"kubescheduler.config.k8s.io/v1beta1",
                                                 "kubescheduler.config.k8s.io/v1beta2",
                                                 "kubescheduler.config.k8s.io/v1beta3"};
    if (d->subject == SUBJECT_WORKLOAD) {
        d->scheduler = configurations[drawn_below(d, 3)];
        drawn_want(d, FINDING_OLD_VERSION, "Write kubescheduler.config.k8s.io/v1", "%s", "");
        return;
    }
    const bool is_binding = d->subject == SUBJECT_BINDING;
    drawn_set_text(d->file, "apiVersion",
                   is_binding ? "work.karmada.io/v1alpha1"
                              : "cluster.open-cluster-management.io/v1alpha1");
    drawn_want(d, FINDING_OLD_VERSION,
               is_binding ? "Write work.karmada.io/v1alpha2"
                          : "Write cluster.open-cluster-management.io/v1beta1",
               "apiVersion");
}

/* ---- kinds ---- */

/* The kinds of Kubernetes that make pods, as k8s.io/api v0.36.3 has them; a misspelt Pod is
 * refused, and a misspelt Job may be anything. */
static const struct {
    const char *api, *kind;
} makers[] = {{"apps/v1", "Deployment"},
              {"apps/v1", "StatefulSet"},
              {"apps/v1", "ReplicaSet"},
              {"v1", "ReplicationController"},
              {"batch/v1", "CronJob"}};

static void misspell_kind(struct drawn *d) {
    static char remedy[64];
    char wrong[64];
    const uint32_t i = drawn_below(d, sizeof makers / sizeof makers[0]);
    if (strcmp(d->spec, "spec") == 0)
        return;
    drawn_misspell(d, makers[i].kind, wrong, sizeof wrong);
    (void)snprintf(remedy, sizeof remedy, "Write %s", makers[i].kind);
    drawn_set_text(d->file, "apiVersion", makers[i].api);
    drawn_set_text(d->file, "kind", wrong);
    drawn_want(d, FINDING_INVALID, remedy, "kind");
}

static void have_foreign_version(struct drawn *d) {
    static const char *const wrong[] = {"apps/v2", "app/v1",   "apps/v1alpha1",
                                        "v2",      "batch/v2", "deployment/v1"};
    static char remedy[64];
    if (strcmp(d->spec, "spec") == 0)
        return;
    (void)snprintf(remedy, sizeof remedy, "Write %s",
                   cJSON_GetStringValue(cJSON_GetObjectItem(d->file, "apiVersion")));
    drawn_set_text(d->file, "apiVersion", wrong[drawn_below(d, sizeof wrong / sizeof wrong[0])]);
    drawn_want(d, FINDING_INVALID, remedy, "apiVersion");
}

/* A CRD may define any kind, also one that is near a kind of Kubernetes. */
static void have_own_kind(struct drawn *d) {
    static const char *const own[][2] = {{"argoproj.io/v1alpha1", "Rollout"},
                                         {"apps.kruise.io/v1beta1", "StatefulSet"},
                                         {"example.com/v1", "Deploiment"}};
    const uint32_t i = drawn_below(d, 3);
    if (strcmp(d->spec, "spec.template.spec") != 0)
        return;
    drawn_set_text(d->file, "apiVersion", own[i][0]);
    drawn_set_text(d->file, "kind", own[i][1]);
}

const struct mistake mistakes_of_fields[] = {
    {"a misspelt kind", FINDING_INVALID, OF_WORKLOADS, false, misspell_kind},
    {"a version that the kind does not have", FINDING_INVALID, OF_WORKLOADS, false,
     have_foreign_version},
    {"a kind of a CRD", FINDING_INVALID, OF_WORKLOADS, false, have_own_kind},
    {"a misspelt field", FINDING_UNKNOWN_FIELD, OF_WORKLOADS | OF_PLACEMENTS | OF_BINDINGS, false,
     misspell},
    {"a field at another level", FINDING_UNKNOWN_FIELD, OF_WORKLOADS | OF_PLACEMENTS | OF_BINDINGS,
     false, misplace},
    {"an invented field", FINDING_UNKNOWN_FIELD, OF_WORKLOADS | OF_PLACEMENTS | OF_BINDINGS, false,
     invent},
    {"an old version", FINDING_OLD_VERSION, OF_WORKLOADS | OF_PLACEMENTS | 1 << SUBJECT_BINDING,
     true, age},
    {.name = NULL},
};
