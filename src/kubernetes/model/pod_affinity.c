#include "model/pod_affinity.h"

#include "base/json_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void term_decode(struct json_reader *r, void *into) {
    struct pod_affinity_term *term = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("topologyKey")))
            term->topology_key = json_string(r);
        else if (str_eq(key, STR("labelSelector")))
            term->pods = label_selector_decode(r);
        else if (str_eq(key, STR("namespaces")))
            term->namespaces = strings_decode(r, &term->namespace_count);
        else if (str_eq(key, STR("namespaceSelector")))
            term->by_labels = label_selector_decode(r);
        else if (str_eq(key, STR("matchLabelKeys")))
            term->match_keys = strings_decode(r, &term->match_key_count);
        else if (str_eq(key, STR("mismatchLabelKeys")))
            term->mismatch_keys = strings_decode(r, &term->mismatch_key_count);
    }
}

static void preferred_decode(struct json_reader *r, void *into) {
    struct pod_affinity_term *term = into;
    struct str key;
    int64_t weight = 0;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("weight")))
            weight = json_integer(r, INT32_MIN, INT32_MAX);
        else if (str_eq(key, STR("podAffinityTerm")))
            term_decode(r, term);
    }
    term->weight = weight;
}

struct pod_affinity pod_affinity_decode(struct json_reader *r, bool preferences) {
    struct pod_affinity affinity = {0};
    struct str key;
    if (!json_object(r))
        return affinity;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("requiredDuringSchedulingIgnoredDuringExecution")))
            affinity.terms = json_array_of(r, sizeof *affinity.terms, UINT32_MAX, term_decode,
                                           &affinity.term_count);
        else if (preferences && str_eq(key, STR("preferredDuringSchedulingIgnoredDuringExecution")))
            affinity.preferred = json_array_of(r, sizeof *affinity.preferred, UINT32_MAX,
                                               preferred_decode, &affinity.preferred_count);
    }
    return affinity;
}

/* ---- terms as an API server stores them ---- */

static uint32_t add_keys(const struct str *keys, uint32_t count, struct str op,
                         const struct labels *labels, struct label_expression *into,
                         struct str *values) {
    uint32_t added = 0;
    for (uint32_t i = 0; i < count; i++)
        if (labels_lookup(labels, keys[i], &values[added])) {
            into[added] = (struct label_expression){
                .key = keys[i], .op = op, .values = &values[added], .value_count = 1};
            added++;
        }
    return added;
}

static int merge_term(struct pod_affinity_term *term, const struct labels *labels,
                      struct arena *arena) {
    struct label_selector *s = &term->pods;
    uint32_t keys = term->match_key_count + term->mismatch_key_count, count = s->expression_count;
    if (keys == 0 || !s->present)
        return 0;
    struct label_expression *all = arena_array(arena, (size_t)count + keys, sizeof *all);
    struct str *values = arena_array(arena, keys, sizeof *values);
    if (all == NULL || values == NULL)
        return -ENOMEM;
    if (count > 0)
        memcpy(all, s->expressions, count * sizeof *all);
    uint32_t added =
        add_keys(term->match_keys, term->match_key_count, STR("In"), labels, all + count, values);
    added += add_keys(term->mismatch_keys, term->mismatch_key_count, STR("NotIn"), labels,
                      all + count + added, values + added);
    s->expressions = all;
    s->expression_count = count + added;
    return 0;
}

static int merge_terms(const struct pod_affinity_term **terms, uint32_t count,
                       const struct labels *labels, struct arena *arena) {
    struct pod_affinity_term *merged = arena_array(arena, count, sizeof *merged);
    int r = merged == NULL ? -ENOMEM : 0;
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        merged[i] = (*terms)[i];
        r = merge_term(&merged[i], labels, arena);
    }
    if (r == 0)
        *terms = merged;
    return r;
}

int pod_affinity_merge_keys(struct pod_affinity *affinity, const struct labels *labels,
                            struct arena *arena) {
    int r = merge_terms(&affinity->terms, affinity->term_count, labels, arena);
    return r == 0 ? merge_terms(&affinity->preferred, affinity->preferred_count, labels, arena) : r;
}

/* ---- pods that a term selects ---- */

/* Do the labels match? A selector that does not parse matches nothing. */
static int matches(const struct label_selector *written, const struct labels *labels,
                   struct arena *arena, bool *ret) {
    struct selector selector;
    int r = selector_compile(written, (struct labels){0}, arena, &selector, NULL);
    *ret = r == 0 && selector_matches(&selector, labels_lookup, labels);
    return r == -ENOMEM ? r : 0;
}

/* Does the term select the pod's namespace, by name or by labels? A term with neither selects the
 * pod's own namespace. */
static int means_namespace(const struct pod_affinity_term *term, const struct meant_pod *pod,
                           struct arena *arena, bool *ret) {
    *ret = term->namespace_count == 0 && !term->by_labels.present;
    for (uint32_t i = 0; !*ret && i < term->namespace_count; i++)
        *ret = str_eq(term->namespaces[i], pod->namespace);
    return *ret ? 0 : matches(&term->by_labels, &pod->namespace_labels, arena, ret);
}

int pod_affinity_means(const struct pod_affinity_term *term, const struct meant_pod *pod,
                       struct arena *arena, bool *ret) {
    struct str value;
    *ret = false;
    for (uint32_t i = 0; i < term->mismatch_key_count; i++)
        if (labels_lookup(&pod->labels, term->mismatch_keys[i], &value))
            return 0;
    int r = means_namespace(term, pod, arena, ret);
    return r == 0 && *ret ? matches(&term->pods, &pod->labels, arena, ret) : r;
}

/* ---- terms as kube-scheduler evaluates them ---- */

static int compare_strings(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int set_namespaces(const struct pod_affinity_term *from, struct str namespace,
                          struct arena *arena, struct pod_term *ret) {
    bool own = from->namespace_count == 0 && !from->by_labels.present;
    uint32_t count = own ? 1 : from->namespace_count;
    struct str *names = arena_array(arena, count, sizeof *names);
    if (names == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        names[i] = own ? namespace : from->namespaces[i];
    if (count > 1)
        qsort(names, count, sizeof *names, compare_strings);
    ret->namespaces = names;
    ret->namespace_count = count;
    return 0;
}

static int term_compile(const struct pod_affinity_term *from, struct str namespace,
                        struct arena *arena, struct pod_term *ret, struct err *err) {
    const struct labels none = {0};
    ret->weight = from->weight;
    ret->topology_key = from->topology_key;
    int r = selector_compile(&from->pods, none, arena, &ret->pods, err);
    if (r == 0)
        r = selector_compile(&from->by_labels, none, arena, &ret->by_labels, err);
    if (r == 0)
        r = set_namespaces(from, namespace, arena, ret);
    if (r == 0)
        ret->steps = 8 + selector_cost(&ret->pods).steps + selector_cost(&ret->by_labels).steps;
    return r;
}

static int reserve_terms(struct pod_terms *terms, uint32_t more, struct arena *arena) {
    if (terms->cap - terms->count >= more)
        return 0;
    struct pod_term *items = arena_array(arena, (size_t)terms->count + more, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    if (terms->count > 0)
        memcpy(items, terms->items, terms->count * sizeof *items);
    terms->items = items;
    terms->cap = terms->count + more;
    return 0;
}

int pod_terms_add(struct pod_terms *terms, enum pod_term_kind kind, const struct pod_affinity *from,
                  struct str namespace, struct arena *arena, struct err *err) {
    bool required = kind == POD_BESIDE || kind == POD_APART;
    const struct pod_affinity_term *written = required ? from->terms : from->preferred;
    uint32_t count = required ? from->term_count : from->preferred_count;
    if (reserve_terms(terms, count, arena) != 0)
        return -ENOMEM;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        struct pod_term *term = &terms->items[terms->count + i];
        *term = (struct pod_term){.kind = kind};
        r = term_compile(&written[i], namespace, arena, term, err);
    }
    if (r == 0)
        terms->count += count;
    return r;
}

bool pod_term_names(const struct pod_term *term, struct str namespace) {
    return term->namespace_count > 0 && bsearch(&namespace, term->namespaces, term->namespace_count,
                                                sizeof namespace, compare_strings) != NULL;
}

void pod_terms_key(const struct pod_terms *terms, struct strbuf *out) {
    for (uint32_t i = 0; i < terms->count; i++) {
        const struct pod_term *term = &terms->items[i];
        strbuf_append_char(out, (char)('0' + term->kind));
        strbuf_append(out, &term->weight, sizeof term->weight);
        key_append(out, term->topology_key);
        strbuf_append(out, &term->namespace_count, sizeof term->namespace_count);
        for (uint32_t n = 0; n < term->namespace_count; n++)
            key_append(out, term->namespaces[n]);
        for (int which = 0; which < 2; which++) {
            const struct selector *selector = which == 0 ? &term->by_labels : &term->pods;
            strbuf_append(out, &selector->count, sizeof selector->count);
            selector_key(selector, out);
        }
    }
}

int pod_terms_copy(const struct pod_terms *from, struct arena *arena, struct pod_terms *ret) {
    struct pod_term *items = arena_array(arena, from->count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < from->count; i++) {
        const struct pod_term *term = &from->items[i];
        struct str *names = arena_array(arena, term->namespace_count, sizeof *names);
        items[i] = *term;
        items[i].topology_key = arena_str(arena, term->topology_key);
        items[i].namespaces = names;
        for (uint32_t n = 0; names != NULL && n < term->namespace_count; n++)
            names[n] = arena_str(arena, term->namespaces[n]);
        if (selector_copy(&term->by_labels, arena, &items[i].by_labels) != 0 ||
            selector_copy(&term->pods, arena, &items[i].pods) != 0)
            return -ENOMEM;
    }
    *ret = (struct pod_terms){items, from->count, from->count};
    return arena_failed(arena) ? -ENOMEM : 0;
}
