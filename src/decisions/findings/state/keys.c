#include "findings/state/keys.h"

#include "base/suggest.h"

#include <stdio.h>

int key_use_find(struct topology_view *v, struct str key, struct key_use *ret) {
    struct topology_column column;
    *ret = (struct key_use){.domains = 0};
    const int r = topology_column(v, key, &column);
    for (uint32_t domain = 0; r == 0 && domain < column.domains && ret->domains < 2; domain++)
        if (topology_domain_used(&column, domain)) {
            ret->value = topology_value(v, &column, domain);
            ret->domains++;
        }
    return r;
}

struct str key_near(const struct topology_view *v, struct str key, struct arena *arena) {
    enum { CANDIDATES = 8, LABELS = 64 };
    struct suggestion near = suggestion_for(key);
    uint32_t seen = 0;
    for (uint32_t slot = 0; slot < topology_slots(v->topology) && seen < CANDIDATES; slot++) {
        struct label labels[LABELS];
        if (!topology_is_known(v->topology, slot))
            continue;
        const uint32_t count = topology_labels_of(v->topology, slot, STR(""), labels, LABELS);
        for (uint32_t i = 0; i < count && i < LABELS; i++) {
            const char *name = arena_cstr(arena, labels[i].key);
            if (name != NULL)
                suggestion_offer(&near, name);
        }
        seen++;
    }
    return near.best != NULL ? str_of(near.best) : STR("");
}

void findings_add_unknown_key(const struct topology_view *v, struct str key, struct str path,
                              const char *candidates, const char *spoiled, struct findings *f) {
    const struct str near = key_near(v, key, f->arena);
    char remedy[LIMIT_FINDING_BYTES];
    if (str_empty(near))
        (void)snprintf(remedy, sizeof remedy, "Use a label that %ss have, or label the %ss",
                       candidates, candidates);
    else
        (void)snprintf(remedy, sizeof remedy, "Write %.*s", STR_ARG(near));
    findings_add(f, FINDING_KEY_UNKNOWN, path, str_of(remedy), "no %s has the label '%.*s': %s",
                 candidates, STR_ARG(key), spoiled);
}

/* ---- selectors ---- */

/* Does the operator need the key? */
static bool needs_key(struct str op) {
    return str_eq(op, STR("In")) || str_eq(op, STR("Exists"));
}

int key_missing(struct topology_view *v, const struct label_selector *s, struct str *ret) {
    struct key_use use;
    int r = 0;
    *ret = STR("");
    for (uint32_t i = 0; r == 0 && i < s->match_labels.count && str_empty(*ret); i++) {
        r = key_use_find(v, s->match_labels.items[i].key, &use);
        if (r == 0 && use.domains == 0)
            *ret = s->match_labels.items[i].key;
    }
    for (uint32_t i = 0; r == 0 && i < s->expression_count && str_empty(*ret); i++) {
        if (!needs_key(s->expressions[i].op))
            continue;
        r = key_use_find(v, s->expressions[i].key, &use);
        if (r == 0 && use.domains == 0)
            *ret = s->expressions[i].key;
    }
    return r;
}

void findings_add_unknown_label(const struct topology_view *v, struct str key, struct str path,
                                struct findings *f) {
    const struct str near = key_near(v, key, f->arena);
    char remedy[LIMIT_FINDING_BYTES] = "Select a label that clusters have, or label the clusters";
    if (!str_empty(near))
        (void)snprintf(remedy, sizeof remedy, "Write %.*s", STR_ARG(near));
    findings_add(f, FINDING_LABEL_UNKNOWN, path, str_of(remedy),
                 "no cluster has the label '%.*s': nothing can be selected", STR_ARG(key));
}
