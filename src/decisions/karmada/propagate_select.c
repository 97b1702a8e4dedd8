#include "karmada/propagate_select.h"

#include "model/names.h"

#include <errno.h>

/* ---- objects that the detector passes over ---- */

/* upstream: NewSkippedResourceConfig() */
static bool is_skipped_kind(const struct propagated_object *o) {
    static const char *const groups[] = {
        KARMADA_CLUSTER_GROUP, KARMADA_POLICY_GROUP,     KARMADA_WORK_GROUP,
        KARMADA_CONFIG_GROUP,  KARMADA_NETWORKING_GROUP, KARMADA_AUTOSCALING_GROUP,
        KARMADA_REMEDY_GROUP,  KARMADA_APPS_GROUP,       EVENTS_GROUP};
    const struct str group = api_group(o->api_version);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (str_eq(group, str_of(groups[i])))
            return true;
    return str_eq(o->api_version, STR(COORDINATION_API)) ||
           (str_eq(o->api_version, STR("v1")) && str_eq(o->kind, STR(EVENT_KIND)));
}

/* upstream: IsReservedNamespace(), and the default of --skipped-propagating-namespaces */
static bool is_skipped_namespace(struct str namespace) {
    return str_eq(namespace, STR("karmada-system")) || str_eq(namespace, STR("karmada-cluster")) ||
           str_has_prefix(namespace, STR("karmada-es-")) || str_has_prefix(namespace, STR("kube-"));
}

/* Returns the reason why no policy can select the object; "" if a policy can select it. */
static const char *skip_reason(const struct propagated_object *o) {
    struct str claimed = {0};
    if (is_skipped_kind(o))
        return "Karmada propagates no objects of this API";
    if (is_skipped_namespace(o->meta.namespace))
        return "Karmada propagates no objects of this namespace";
    if (labels_lookup(&o->meta.labels, STR(KARMADA_CLAIMED_LABEL), &claimed) && !str_empty(claimed))
        return "another controller of Karmada has claimed it (label " KARMADA_CLAIMED_LABEL ")";
    return "";
}

/* ---- selectors ---- */

enum mismatch { BY_KIND, BY_VERSION, BY_NAMESPACE, BY_NAME, BY_LABELS, SELECTED };

static enum mismatch compare(const struct propagation_policy *p,
                             const struct propagation_selector *s,
                             const struct propagated_object *o) {
    /* the webhook's default */
    const struct str namespace =
        str_empty(s->namespace) && !p->cluster_wide ? p->meta.namespace : s->namespace;
    if (!str_eq(s->kind, o->kind))
        return BY_KIND;
    if (!str_eq(s->api_version, o->api_version))
        return BY_VERSION;
    if (!str_empty(namespace) && !str_eq(namespace, o->meta.namespace))
        return BY_NAMESPACE;
    if (!str_empty(s->name))
        return str_eq(s->name, o->meta.name) ? SELECTED : BY_NAME;
    if (!s->label_selector.present)
        return SELECTED;
    return !s->invalid && selector_matches(&s->labels, labels_lookup, &o->meta.labels) ? SELECTED
                                                                                       : BY_LABELS;
}

/* The member of a selector that excludes the object, and the object's value. */
struct excluded {
    const char *member;
    struct str selected, has;
};

static struct excluded excluded_by(enum mismatch by, const struct propagation_selector *s,
                                   const struct propagated_object *o) {
    switch (by) {
    case BY_KIND:
        return (struct excluded){"kind", s->kind, o->kind};
    case BY_VERSION:
        return (struct excluded){"apiVersion", s->api_version, o->api_version};
    case BY_NAMESPACE:
        return (struct excluded){"namespace", s->namespace, o->meta.namespace};
    case BY_NAME:
        return (struct excluded){"name", s->name, o->meta.name};
    case BY_LABELS:
    case SELECTED:
        break;
    }
    return (struct excluded){"labelSelector", {0}, {0}};
}

static void explain(const struct propagation_policy *p, uint32_t at, enum mismatch by,
                    const struct propagated_object *o, struct arena *arena,
                    struct karmada_propagation *ret) {
    const struct propagation_selector *s = &p->selectors[at];
    const struct excluded e = excluded_by(by, s, o);
    ret->path = arena_printf(arena, "spec.resourceSelectors[%u].%s", at, e.member);
    if (by == BY_LABELS) {
        ret->reason =
            arena_printf(arena, "the policy does not select %.*s '%.*s': its labels do not match",
                         STR_ARG(o->kind), STR_ARG(o->meta.name));
        ret->remedy = STR("Give the object these labels, or select it by name");
        return;
    }
    ret->reason = arena_printf(
        arena, "the policy does not select %.*s '%.*s': the selector's %s is '%.*s', not '%.*s'",
        STR_ARG(o->kind), STR_ARG(o->meta.name), e.member, STR_ARG(e.selected), STR_ARG(e.has));
    ret->remedy = arena_printf(arena, "Write %s: %.*s", e.member, STR_ARG(e.has));
}

static int find_selector(const struct propagation_policy *p, const struct propagated_object *o,
                         struct arena *arena, bool *ret_selects, struct karmada_propagation *ret,
                         struct err *err) {
    enum mismatch nearest = BY_KIND;
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->selector_count; i++) {
        if (!steps_take(&arena->steps, 1 + (uint64_t)p->selectors[i].labels.count))
            return err_set(err, -E2BIG, "more selectors than there is time for");
        const enum mismatch by = compare(p, &p->selectors[i], o);
        if (by == SELECTED) {
            *ret_selects = true;
            return 0;
        }
        if (by > nearest) {
            nearest = by;
            at = i;
        }
    }
    if (p->selector_count > 0) {
        explain(p, at, nearest, o, arena, ret);
        return 0;
    }
    ret->path = STR("spec.resourceSelectors");
    ret->reason = STR("the policy has no selector, and selects nothing");
    ret->remedy = arena_printf(arena, "Add a selector with kind: %.*s", STR_ARG(o->kind));
    return 0;
}

int propagation_selects(const struct propagation_policy *policy,
                        const struct propagated_object *object, struct arena *arena,
                        bool *ret_selects, struct karmada_propagation *ret, struct err *err) {
    const char *skipped = skip_reason(object);
    *ret_selects = false;
    if (*skipped != '\0') {
        ret->path = STR("spec.resourceSelectors");
        ret->reason = str_of(skipped);
        return 0;
    }
    if (policy->meta.terminating) {
        ret->path = STR("metadata.deletionTimestamp");
        ret->reason = STR("the policy is being deleted, and selects nothing");
        return 0;
    }
    if (!policy->cluster_wide && !str_eq(policy->meta.namespace, object->meta.namespace)) {
        ret->path = STR("metadata.namespace");
        ret->reason = arena_printf(
            arena,
            str_empty(object->meta.namespace)
                ? "a PropagationPolicy (here in namespace '%.*s') does not select cluster-scoped "
                  "objects%.*s"
                : "a PropagationPolicy selects objects of its own namespace only: '%.*s', not "
                  "'%.*s'",
            STR_ARG(policy->meta.namespace), STR_ARG(object->meta.namespace));
        ret->remedy = object->scope_unknown
                          ? STR("Use a ClusterPropagationPolicy; or write metadata.namespace into "
                                "the object if its kind is namespaced")
                      : str_empty(object->meta.namespace)
                          ? STR("Use a ClusterPropagationPolicy")
                          : STR("Put both into one namespace, or use a ClusterPropagationPolicy");
        return 0;
    }
    const int r = find_selector(policy, object, arena, ret_selects, ret, err);
    return r == 0 && arena_failed(arena) ? err_set(err, -ENOMEM, "no memory for a policy") : r;
}
