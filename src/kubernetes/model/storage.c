#include "model/storage.h"

#include "base/json_fields.h"
#include "model/names.h"
#include "model/quantity.h"

#include <errno.h>

/* ---- the short text: members of the object, side by side ---- */

enum part {
    UID,
    DELETED,
    OLD_CLASS,
    CLASS,
    COMPLETED,
    NODE,
    PHASE,
    SIZE,
    MODE,
    ATTRIBUTES,
    ACCESS,
    VOLUME,
    SELECTOR,
    LABELS,
    CLAIM_NAMESPACE,
    CLAIM_NAME,
    CLAIM_UID,
    PROVISIONER,
    BINDING,
    PARTS,
};

/* Raw texts of members; "" for a missing one. */
struct parts {
    struct str of[PARTS];
};

static const char *const part_names[PARTS] = {
    [UID] = "uid",
    [DELETED] = "deleted",
    [CLASS] = "class",
    [COMPLETED] = "completed",
    [NODE] = "node",
    [PHASE] = "phase",
    [SIZE] = "size",
    [MODE] = "mode",
    [ATTRIBUTES] = "attributes",
    [ACCESS] = "access",
    [VOLUME] = "volume",
    [SELECTOR] = "selector",
    [LABELS] = "labels",
    [CLAIM_NAMESPACE] = "claimNamespace",
    [CLAIM_NAME] = "claimName",
    [CLAIM_UID] = "claimUid",
    [PROVISIONER] = "provisioner",
    [BINDING] = "binding",
};

#define PART(text, part) JSON_RAW(text, struct parts, of[part])

static const struct json_field annotation_parts[] = {PART(STORAGE_CLASS_ANNOTATION, OLD_CLASS),
                                                     PART(BIND_COMPLETED_ANNOTATION, COMPLETED),
                                                     PART(SELECTED_NODE_ANNOTATION, NODE)};
static const struct json_field meta_parts[] = {PART("uid", UID), PART("deletionTimestamp", DELETED),
                                               PART("labels", LABELS),
                                               JSON_WITHIN("annotations", annotation_parts)};
static const struct json_field amount_parts[] = {PART("storage", SIZE)};
static const struct json_field resource_parts[] = {JSON_WITHIN("requests", amount_parts)};
static const struct json_field claim_parts[] = {PART("namespace", CLAIM_NAMESPACE),
                                                PART("name", CLAIM_NAME), PART("uid", CLAIM_UID)};
static const struct json_field spec_parts[] = {PART("volumeName", VOLUME),
                                               PART("storageClassName", CLASS),
                                               PART("volumeMode", MODE),
                                               PART("volumeAttributesClassName", ATTRIBUTES),
                                               PART("accessModes", ACCESS),
                                               PART("selector", SELECTOR),
                                               JSON_WITHIN("resources", resource_parts),
                                               JSON_WITHIN("capacity", amount_parts),
                                               JSON_WITHIN("claimRef", claim_parts)};
static const struct json_field status_parts[] = {PART("phase", PHASE)};
static const struct json_field object_parts[] = {
    JSON_WITHIN("metadata", meta_parts), JSON_WITHIN("spec", spec_parts),
    JSON_WITHIN("status", status_parts), PART("provisioner", PROVISIONER),
    PART("volumeBindingMode", BINDING)};

static bool is_given(struct str part) {
    return !str_empty(part) && !str_eq(part, STR("null"));
}

void storage_shorten(struct str object, bool is_claim, struct arena *arena, struct json_writer *w) {
    struct parts parts = {.of = {{0}}};
    struct json_reader r;
    json_reader_init(&r, object, arena, "");
    json_fields(&r, &JSON_ROWS(object_parts), &parts);
    if (is_given(parts.of[OLD_CLASS]))
        parts.of[CLASS] = parts.of[OLD_CLASS]; /* upstream: GetPersistentVolumeClaimClass */
    json_begin_object(w);
    for (size_t i = 0; i < PARTS; i++) {
        if (i == OLD_CLASS || (i == UID && !is_claim) || !is_given(parts.of[i]))
            continue;
        json_key(w, str_of(part_names[i]));
        json_put_raw(w, parts.of[i]);
    }
    json_end_object(w);
}

/* ---- the decoder ---- */

static void read_size(struct json_reader *r, void *into) {
    *(__int128 *)into = quantity_decode_nano(r);
}

static void read_selector(struct json_reader *r, void *into) {
    *(struct label_selector *)into = label_selector_decode(r);
}

static void read_labels(struct json_reader *r, void *into) {
    *(struct labels *)into = labels_decode(r);
}

static void read_modes(struct json_reader *r, void *into) {
    struct storage_facts *facts = into;
    facts->access_modes = strings_decode(r, &facts->access_mode_count);
}

static void read_binding(struct json_reader *r, void *into) {
    *(bool *)into = str_eq(json_string(r), STR("WaitForFirstConsumer"));
}

/* Notes that a member exists; its value does not matter. */
static void read_presence(struct json_reader *r, void *into) {
    (void)json_skip(r);
    *(bool *)into = true;
}

static const struct json_field fact_fields[] = {
    JSON_TEXT("uid", struct storage_facts, uid),
    JSON_CALL("deleted", struct storage_facts, deleted, read_presence),
    JSON_TEXT("class", struct storage_facts, class),
    JSON_CALL("completed", struct storage_facts, bind_completed, read_presence),
    JSON_TEXT_GIVEN("node", struct storage_facts, node, has_node),
    JSON_TEXT("phase", struct storage_facts, phase),
    JSON_CALL("size", struct storage_facts, size, read_size),
    JSON_TEXT("mode", struct storage_facts, mode),
    JSON_TEXT("attributes", struct storage_facts, attributes_class),
    JSON_CALL_WHOLE("access", read_modes),
    JSON_TEXT("volume", struct storage_facts, volume),
    JSON_CALL("selector", struct storage_facts, selector, read_selector),
    JSON_CALL("labels", struct storage_facts, labels, read_labels),
    JSON_TEXT("claimNamespace", struct storage_facts, claim_namespace),
    JSON_TEXT_GIVEN("claimName", struct storage_facts, claim_name, has_claim),
    JSON_TEXT("claimUid", struct storage_facts, claim_uid),
    JSON_TEXT("provisioner", struct storage_facts, provisioner),
    JSON_CALL("binding", struct storage_facts, waits, read_binding),
};

int storage_decode(struct str text, struct arena *arena, struct storage_facts *ret) {
    struct json_reader r;
    struct err why;
    *ret = (struct storage_facts){.deleted = false};
    json_reader_init(&r, text, arena, "");
    json_fields(&r, &JSON_ROWS(fact_fields), ret);
    return json_finish(&r, &why);
}

/* ---- binding ---- */

bool storage_claim_is_bound(const struct storage_facts *claim) {
    return !str_empty(claim->volume) &&
           (claim->bind_completed || str_empty(claim->phase) || str_eq(claim->phase, STR("Bound")));
}

/* upstream: IsVolumeBoundToClaim */
static bool is_its(const struct storage_claim *claim, const struct storage_facts *volume) {
    return volume->has_claim && str_eq(volume->claim_name, claim->name) &&
           str_eq(volume->claim_namespace, claim->namespace) &&
           (str_empty(volume->claim_uid) || str_eq(volume->claim_uid, claim->facts->uid));
}

static bool is_filesystem(struct str mode) {
    return str_empty(mode) || str_eq(mode, STR("Filesystem"));
}

static bool same_mode(struct str a, struct str b) {
    return is_filesystem(a) ? is_filesystem(b) : str_eq(a, b);
}

/* Has the volume every access mode of the claim? There are four in Kubernetes. */
static bool has_modes(const struct storage_facts *volume, const struct storage_facts *claim) {
    enum { MODES = 16 }; /* longer lists are not compared: the volume does not fit */
    if (claim->access_mode_count > MODES || volume->access_mode_count > MODES)
        return claim->access_mode_count == 0;
    for (uint32_t i = 0; i < claim->access_mode_count; i++) {
        bool has = false;
        for (uint32_t k = 0; k < volume->access_mode_count; k++)
            has = has || str_eq(volume->access_modes[k], claim->access_modes[i]);
        if (!has)
            return false;
    }
    return true;
}

bool storage_volume_fits(const struct storage_claim *claim, const struct storage_facts *volume,
                         bool *ret_is_its) {
    const struct storage_facts *c = claim->facts;
    *ret_is_its = is_its(claim, volume);
    if ((volume->has_claim && !*ret_is_its) || volume->size < c->size || volume->deleted ||
        !same_mode(volume->mode, c->mode) || !str_eq(volume->class, c->class) ||
        !str_eq(volume->attributes_class, c->attributes_class))
        return false;
    return *ret_is_its || (str_eq(volume->phase, STR("Available")) && has_modes(volume, c) &&
                           (claim->selector == NULL ||
                            selector_matches(claim->selector, labels_lookup, &volume->labels)));
}

/* ---- classes ---- */

static void put_requirement(struct json_reader *r, struct json_writer *w) {
    struct str key;
    if (!json_object(r))
        return;
    json_begin_object(w);
    json_put_member(w, STR("operator"), STR("In"));
    while (json_member(r, &key)) {
        const bool known = str_eq(key, STR("key")) || str_eq(key, STR("values"));
        const struct str value = json_skip(r);
        if (!known || json_failed(r))
            continue;
        json_key(w, key);
        json_put_raw(w, value);
    }
    json_end_object(w);
}

static void put_term(struct json_reader *r, struct json_writer *w) {
    struct str key;
    json_begin_object(w);
    json_key(w, STR("matchExpressions"));
    json_begin_array(w);
    if (json_object(r))
        while (json_member(r, &key))
            if (str_eq(key, STR("matchLabelExpressions")) && json_array(r))
                while (json_element(r))
                    put_requirement(r, w);
    json_end_array(w);
    json_end_object(w);
}

struct class_text {
    struct str topologies;
};
static const struct json_field class_fields[] = {
    JSON_RAW("allowedTopologies", struct class_text, topologies)};

void storage_topologies(struct str class, struct arena *arena, struct json_writer *w) {
    struct class_text text = {.topologies = {0}};
    struct json_reader r;
    json_reader_init(&r, class, arena, "");
    json_fields(&r, &JSON_ROWS(class_fields), &text);
    if (json_failed(&r) || str_empty(text.topologies))
        return;
    json_reader_init(&r, text.topologies, arena, "");
    if (!json_array(&r) || !json_element(&r))
        return; /* no topologies: any node */
    json_begin_object(w);
    json_key(w, STR("required"));
    json_begin_object(w);
    json_key(w, STR("nodeSelectorTerms"));
    json_begin_array(w);
    do
        put_term(&r, w);
    while (json_element(&r));
    json_end_array(w);
    json_end_object(w);
    json_end_object(w);
}
