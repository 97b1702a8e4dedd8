#include "volumes/zone_labels.h"

#include "model/topology.h"

#include <string.h>

/* A volume's old label is compared with a node's new one if the node lacks the old one. */
static const struct zone_label {
    const char *key, *newer; /* NULL: `key` is the newer one */
} zone_labels[ZONE_LABELS] = {
    {OLD_ZONE_LABEL, TOPOLOGY_NAME_ZONE},
    {OLD_REGION_LABEL, TOPOLOGY_NAME_REGION},
    {TOPOLOGY_NAME_ZONE, NULL},
    {TOPOLOGY_NAME_REGION, NULL},
};

/* Takes the first name off a list like "a__b"; false: the list is empty. */
static bool next_name(struct str *rest, struct str *ret) {
    static const char delimiter[] = "__";
    if (rest->p == NULL)
        return false;
    const char *end = memmem(rest->p, rest->n, delimiter, sizeof delimiter - 1);
    const size_t n = end == NULL ? rest->n : (size_t)(end - rest->p);
    const size_t taken = end == NULL ? n : n + sizeof delimiter - 1;
    *ret = (struct str){rest->p, n};
    *rest = end == NULL ? (struct str){NULL, 0} : (struct str){rest->p + taken, rest->n - taken};
    return true;
}

static bool has_empty_name(struct str list) {
    struct str name;
    while (next_name(&list, &name))
        if (str_empty(name))
            return true;
    return false;
}

static void write_requirement(struct json_writer *w, const char *key, const char *operator) {
    json_put_member(w, STR("key"), str_of(key));
    json_put_member(w, STR("operator"), str_of(operator));
}

static void write_absent(struct json_writer *w, const char *key) {
    json_begin_object(w);
    write_requirement(w, key, "DoesNotExist");
    json_end_object(w);
}

static void write_in(struct json_writer *w, const char *key, struct str list) {
    struct str name;
    json_begin_object(w);
    write_requirement(w, key, "In");
    json_key(w, STR("values"));
    json_begin_array(w);
    while (next_name(&list, &name))
        json_put_string(w, name);
    json_end_array(w);
    json_end_object(w);
}

static void begin_term(struct json_writer *w) {
    json_begin_object(w);
    json_key(w, STR("matchExpressions"));
    json_begin_array(w);
}

static void end_term(struct json_writer *w) {
    json_end_array(w);
    json_end_object(w);
}

/* Writes the terms of a label. A node without any of these labels is in a cluster without zones,
 * and may have every volume. */
static void write_terms(struct json_writer *w, const struct zone_label *label, struct str list) {
    begin_term(w);
    write_in(w, label->key, list);
    end_term(w);
    if (label->newer != NULL) {
        begin_term(w);
        write_absent(w, label->key);
        write_in(w, label->newer, list);
        end_term(w);
    }
    begin_term(w);
    for (size_t i = 0; i < ZONE_LABELS; i++)
        write_absent(w, zone_labels[i].key);
    end_term(w);
}

uint32_t zone_labels_write(const struct labels *labels, struct json_writer *w) {
    uint32_t count = 0;
    for (size_t i = 0; i < ZONE_LABELS; i++) {
        struct str list;
        if (!labels_lookup(labels, str_of(zone_labels[i].key), &list) || has_empty_name(list))
            continue;
        count++;
        json_begin_object(w);
        json_key(w, STR("required"));
        json_begin_object(w);
        json_key(w, STR("nodeSelectorTerms"));
        json_begin_array(w);
        write_terms(w, &zone_labels[i], list);
        json_end_array(w);
        json_end_object(w);
        json_end_object(w);
    }
    return count;
}
