#include "findings/kinds.h"

#include "base/json_reader.h"
#include "base/suggest.h"
#include "findings/schemas.h"
#include "findings/terms.h"
#include "model/names.h"

#include <stdio.h>

/* Versions in which these kinds were once served. upstream: kubernetes CHANGELOG-1.16 (apps,
 * extensions), CHANGELOG-1.25 (batch/v1beta1). */
static const char *const old_versions[] = {"extensions/v1beta1", APPS_GROUP "/v1beta1",
                                           APPS_GROUP "/v1beta2", BATCH_GROUP "/v1beta1",
                                           BATCH_GROUP "/v2alpha1"};

/* May a CRD define kinds of the group? The group of a CRD has a dot. upstream:
 * apiextensions-apiserver pkg/apis/apiextensions/validation
 * validateCustomResourceDefinitionSpec (v1.36) */
static bool may_be_of_crd(struct str version) {
    return str_find(api_group(version), '.') != SIZE_MAX;
}

static const struct pod_kind *find_kind(struct str kind) {
    for (uint32_t i = 0; i < POD_KINDS; i++)
        if (str_eq(kind, str_of(pod_kinds[i].kind)))
            return &pod_kinds[i];
    return NULL;
}

static const struct pod_kind *find_near(struct str version, struct str kind, struct steps *steps) {
    struct suggestion near = suggestion_for(kind);
    if (may_be_of_crd(version) || find_kind(kind) != NULL ||
        !steps_take(steps, (uint64_t)POD_KINDS * SUGGESTION_STEPS))
        return NULL;
    for (uint32_t i = 0; i < POD_KINDS; i++)
        suggestion_offer(&near, pod_kinds[i].kind);
    return near.best != NULL ? find_kind(str_of(near.best)) : NULL;
}

const char *pod_kind_near(struct str version, struct str kind, struct steps *steps) {
    const struct pod_kind *near = find_near(version, kind, steps);
    return near != NULL ? near->kind : NULL;
}

/* ---- findings ---- */

static void add_unknown_kind(struct str version, struct str kind, struct findings *f) {
    const struct pod_kind *near = find_near(version, kind, &f->arena->steps);
    char remedy[100];
    if (near == NULL && !str_empty(version))
        findings_add(f, FINDING_INVALID, STR("kind"),
                     STR("Write a kind of Kubernetes, or the apiVersion of the resource that "
                         "defines the kind"),
                     "%.*s has no kind '%.*s'", STR_ARG(version), STR_ARG(kind));
    if (near == NULL)
        return;
    const bool is_its_version = str_eq(version, str_of(near->api));
    (void)snprintf(remedy, sizeof remedy, "Write %s%s%s", near->kind,
                   is_its_version ? "" : ", and apiVersion ", is_its_version ? "" : near->api);
    findings_add(f, FINDING_INVALID, STR("kind"), str_of(remedy),
                 "%.*s has no kind '%.*s'; the nearest is '%s'",
                 STR_ARG(str_empty(version) ? STR("Kubernetes") : version), STR_ARG(kind),
                 near->kind);
}

static void check_version(struct str json, struct str version, const struct pod_kind *known,
                          struct findings *f) {
    char remedy[80];
    for (size_t i = 0; i < sizeof old_versions / sizeof old_versions[0]; i++)
        if (str_eq(version, str_of(old_versions[i]))) {
            findings_of_version(json, old_versions[i], known->api,
                                "an API server refuses the object", f);
            return;
        }
    (void)snprintf(remedy, sizeof remedy, "Write %s", known->api);
    if (!str_empty(version) && !str_eq(version, str_of(known->api)))
        findings_add(f, FINDING_INVALID, STR("apiVersion"), str_of(remedy), "%.*s has no kind '%s'",
                     STR_ARG(version), known->kind);
}

void findings_of_kind(struct str json, struct findings *f) {
    enum { TEXT_BYTES = 80 }; /* bytes of a user's text in a message; longer texts are cut */
    struct json_reader r;
    json_reader_init(&r, json, f->arena, "object");
    const struct str version = str_cut(json_peek_member(&r, STR("apiVersion")), TEXT_BYTES);
    const struct str kind = str_cut(json_peek_member(&r, STR("kind")), TEXT_BYTES);
    const struct pod_kind *known = find_kind(kind);
    if (may_be_of_crd(version) || str_empty(kind))
        return;
    if (known != NULL)
        check_version(json, version, known, f);
    else
        add_unknown_kind(version, kind, f);
}
