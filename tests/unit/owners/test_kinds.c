/*
 * The table of controllers that are read by name, against the rights that are given for them: those
 * of docs/examples/kubernetes, and those of the chart.
 */
#include "model/owner_kinds.h"

#include "base/limits.h"
#include "data/fluid/doc.h"
#include "owners/chain.h"
#include "unit/unit.h"
#include "yaml/manifests.h"

#include <stdio.h>

enum { NAMES = 64 };

/* "jobs.batch", "clonesets/scale.apps.kruise.io" */
struct names {
    char items[NAMES][128];
    size_t count;
};

static void add(struct names *names, const char *resource, const char *subresource,
                const char *group) {
    assert_in_range(names->count, 0, NAMES - 1);
    (void)snprintf(names->items[names->count++], sizeof names->items[0], "%s%s.%s", resource,
                   subresource, group);
}

static bool have(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static void are_equal(const struct names *got, const struct names *want) {
    for (size_t i = 0; i < got->count; i++)
        if (!have(want, got->items[i]))
            fail_msg("'%s' is in the file, and not in the table", got->items[i]);
    for (size_t i = 0; i < want->count; i++)
        if (!have(got, want->items[i]))
            fail_msg("'%s' is in the table, and not in the file", want->items[i]);
    assert_int_equal(got->count, want->count);
}

/* ---- files ---- */

static cJSON *document(const char *path, size_t number) {
    struct manifests files = {0};
    struct err err;
    if (manifests_list(&path, 1, "example", &files, &err) != 0 ||
        manifests_read(&files, LIMIT_CONFIG_BYTES, &err) != 0)
        fail_msg("%s (run it from the top of the repository)", err.text);
    cJSON *doc = NULL;
    if (number < files.items[0].document_count) {
        struct str text = files.items[0].documents[number];
        doc = cJSON_ParseWithLength(text.p, text.n);
        assert_non_null(doc);
    }
    manifests_done(&files);
    return doc;
}

static const char *only(const cJSON *list) {
    assert_int_equal(cJSON_GetArraySize(list), 1);
    return cJSON_GetArrayItem(list, 0)->valuestring;
}

/* What may be read one by one, and not listed. */
static void granted(const char *path, struct names *ret) {
    *ret = (struct names){.count = 0};
    for (size_t d = 0;; d++) {
        CLEANUP(doc_free) cJSON *doc = document(path, d);
        const cJSON *rule, *resource;
        if (doc == NULL)
            return;
        cJSON_ArrayForEach(rule, cJSON_GetObjectItem(doc, "rules")) {
            const cJSON *verbs = cJSON_GetObjectItem(rule, "verbs");
            if (cJSON_GetArraySize(verbs) != 1 || strcmp(only(verbs), "get") != 0)
                continue;
            cJSON_ArrayForEach(resource, cJSON_GetObjectItem(rule, "resources")) {
                add(ret, resource->valuestring, "", only(cJSON_GetObjectItem(rule, "apiGroups")));
            }
        }
    }
}

static void listed(const cJSON *values, const char *subresource, struct names *ret) {
    const cJSON *value;
    *ret = (struct names){.count = 0};
    cJSON_ArrayForEach(value, values) {
        const char *text = value->valuestring, *dot = strchr(text, '.');
        char resource[64];
        assert_non_null(dot);
        (void)snprintf(resource, sizeof resource, "%.*s", (int)(dot - text), text);
        add(ret, resource, subresource, dot + 1);
    }
}

/* ---- the table ---- */

static void rows(bool (*is_wanted)(const struct owner_kind *), const char *subresource,
                 struct names *ret) {
    *ret = (struct names){.count = 0};
    for (size_t i = 0; i < OWNER_KINDS; i++) {
        char resource[64], group[64];
        (void)snprintf(resource, sizeof resource, "%.*s", STR_ARG(owner_kinds[i].plural));
        (void)snprintf(group, sizeof group, "%.*s", STR_ARG(owner_kinds[i].group));
        if (is_wanted(&owner_kinds[i]))
            add(ret, resource, subresource, group);
    }
}

static bool selects(const struct owner_kind *kind) {
    return kind->selects;
}

static bool is_in_a_chain(const struct owner_kind *kind) {
    return kind->role != OWNER_OF_PODS;
}

static bool makes_units(const struct owner_kind *kind) {
    return kind->role == OWNER_OF_UNITS;
}

static void the_examples_grant_what_is_read(void **state) {
    struct names got, want;
    (void)state;
    granted("docs/examples/kubernetes/rbac.yaml", &got);
    rows(selects, "/scale", &want);
    are_equal(&got, &want);
    granted("docs/examples/kubernetes/rbac-validate.yaml", &got);
    rows(is_in_a_chain, "", &want);
    are_equal(&got, &want);
}

static void the_chart_has_the_same(void **state) {
    CLEANUP(doc_free) cJSON *values = document("charts/evenkeel/values.yaml", 0);
    const cJSON *webhook = cJSON_GetObjectItem(values, "webhook");
    struct names got, want;
    (void)state;
    listed(cJSON_GetObjectItem(webhook, "owners"), "/scale", &got);
    rows(selects, "/scale", &want);
    are_equal(&got, &want);
    listed(cJSON_GetObjectItem(cJSON_GetObjectItem(webhook, "validating"), "units"), "", &got);
    rows(makes_units, "", &want);
    are_equal(&got, &want);
}

/* By kind and group, whatever the version is. */
static void a_row_is_found(void **state) {
    static const struct {
        const char *api, *kind, *plural; /* NULL: there is none */
        bool has, ends;
    } cases[] = {
        {"v1", "Pod", "pods", true, false},
        {"apps/v1", "StatefulSet", "statefulsets", true, false},
        {"batch/v1", "Job", "jobs", true, false},
        {"batch.volcano.sh/v1alpha1", "Job", "jobs", true, true},
        {"ray.io/v1", "RayCluster", "rayclusters", true, true},
        {"ray.io/v1alpha1", "RayCluster", "rayclusters", true, true},
        {"jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", true, true},
        {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets", true, true},
        {"kubeflow.org/v1", "PyTorchJob", "pytorchjobs", true, true},
        {"kubeflow.org/v2beta1", "MPIJob", "mpijobs", true, true},
        {"apps.kruise.io/v1beta1", "StatefulSet", "statefulsets", false, false},
        {"apps/v1", "ReplicaSet", NULL, false, false},
        {"example.com/v1", "RayCluster", NULL, false, false},
        {"ray.io/v1", "RayService", NULL, false, false},
        {"v1", "Job", NULL, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct owner_ref ref = {STR("shop"), str_of(cases[i].api), str_of(cases[i].kind),
                                      STR("o")};
        const struct owner_kind *kind =
            owner_kind_of((struct object_type){api_group(ref.api), ref.kind});
        assert_int_equal(kind != NULL, cases[i].plural != NULL);
        if (kind != NULL)
            assert_str(kind->plural, cases[i].plural);
        assert_int_equal(owner_chain_has(&ref), cases[i].has);
        assert_int_equal(owner_chain_ends(&ref), cases[i].ends);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_grant_what_is_read),
        cmocka_unit_test(the_chart_has_the_same),
        cmocka_unit_test(a_row_is_found),
    };
    return cmocka_run_group_tests_name("owner_kinds", tests, NULL, NULL);
}
