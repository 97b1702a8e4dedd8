#include "model/pod_template.h"

#include "model/quantity.h"

/* An array or object that is being read. The hash of an object is the sum of its members' hashes,
 * so that their order does not matter. The hash of an array depends on the order of its elements.
 */
struct level {
    bool is_object;
    bool amounts; /* its members are quantities */
    bool empty;   /* no value so far counts */
    struct hash128 sum;
    struct hash_state state;
    struct str key; /* key of the member that is being read */
};

struct reading {
    struct level *levels; /* in the arena */
    uint32_t depth, cap;
};

enum value_type { TYPE_TEXT, TYPE_NUMBER, TYPE_BOOL, TYPE_ARRAY, TYPE_OBJECT, TYPE_AMOUNT };

static bool is_any_of(struct str word, const struct str *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_eq(word, words[i]))
            return true;
    return false;
}

static bool holds_amounts(struct str key) {
    static const struct str names[] = {STR("limits"), STR("requests"), STR("overhead")};
    return is_any_of(key, names, sizeof names / sizeof names[0]);
}

/* Does an empty value of this member mean the same as no value? Yes, if Go's type of the member is
 * a map or a plain struct. For other members Go has a pointer, and a value such as `emptyDir: {}`
 * has a meaning. */
static bool empty_is_absent(struct str key) {
    static const struct str names[] = {
        STR("labels"),    STR("annotations"), STR("nodeSelector"),     STR("matchLabels"),
        STR("limits"),    STR("requests"),    STR("overhead"),         STR("metadata"),
        STR("resources"), STR("options"),     STR("volumeAttributes"),
    };
    return is_any_of(key, names, sizeof names / sizeof names[0]);
}

/* ---- hashes ---- */

static struct hash128 hash_text(enum value_type type, struct str text) {
    struct hash_state state = hash_begin();
    hash_add_number(&state, type);
    hash_add(&state, text);
    return hash_end128(state);
}

static struct hash128 hash_amount(const struct quantity *q) {
    struct hash_state state = hash_begin();
    hash_add_number(&state, TYPE_AMOUNT);
    hash_add_number(&state, (uint64_t)(q->nano >> 64));
    hash_add_number(&state, (uint64_t)q->nano);
    return hash_end128(state);
}

static struct hash128 hash_level(const struct level *level) {
    struct hash_state state = hash_begin();
    if (!level->is_object) {
        state = level->state;
        hash_add_number(&state, TYPE_ARRAY);
        return hash_end128(state);
    }
    hash_add_number(&state, TYPE_OBJECT);
    hash_add_number(&state, level->sum.a);
    hash_add_number(&state, level->sum.b);
    return hash_end128(state);
}

/* Adds a value to its array or object. */
static void add_value(struct level *level, struct hash128 value) {
    level->empty = false;
    if (!level->is_object) {
        hash_add_number(&level->state, value.a);
        hash_add_number(&level->state, value.b);
        return;
    }
    struct hash_state member = hash_begin();
    hash_add(&member, level->key);
    hash_add_number(&member, value.a);
    hash_add_number(&member, value.b);
    const struct hash128 hash = hash_end128(member);
    level->sum.a += hash.a;
    level->sum.b += hash.b;
}

/* ---- reading ---- */

/* Reads a text, number or bool. Returns false for null, which counts as absent. */
static bool scalar_decode(struct json_reader *r, bool amount, struct hash128 *ret) {
    const enum json_kind kind = json_peek(r);
    if (json_null(r))
        return false;
    if (amount) {
        const struct quantity q = quantity_decode(r, NULL);
        *ret = hash_amount(&q);
    } else if (kind == JSON_STRING)
        *ret = hash_text(TYPE_TEXT, json_string(r));
    else
        *ret = hash_text(kind == JSON_BOOL ? TYPE_BOOL : TYPE_NUMBER, json_skip(r));
    return true;
}

static void enter(struct json_reader *r, struct reading *reading, struct str key) {
    const bool is_object = json_peek(r) == JSON_OBJECT;
    struct level *levels =
        arena_push(r->arena, reading->levels, reading->depth, &reading->cap, sizeof *levels);
    if (levels == NULL || !(is_object ? json_object(r) : json_array(r))) {
        json_fail(r, "cannot be read"); /* the first error stays */
        return;
    }
    reading->levels = levels;
    levels[reading->depth++] = (struct level){.is_object = is_object,
                                              .amounts = is_object && holds_amounts(key),
                                              .empty = true,
                                              .state = hash_begin()};
}

/* metadata.labels["pod-template-hash"] */
static bool is_hash_label(const struct reading *reading, struct str key) {
    return reading->depth == 3 && str_eq(key, STR("pod-template-hash")) &&
           str_eq(reading->levels[0].key, STR("metadata")) &&
           str_eq(reading->levels[1].key, STR("labels"));
}

/* Ends the innermost array or object. If its value counts, adds the value to the array or object
 * around it. */
static void leave(struct reading *reading, struct hash128 *ret) {
    const struct level done = reading->levels[--reading->depth];
    const struct hash128 hash = hash_level(&done);
    if (reading->depth == 0) {
        *ret = hash;
        return;
    }
    struct level *around = &reading->levels[reading->depth - 1];
    const bool absent =
        around->is_object && done.empty && (!done.is_object || empty_is_absent(around->key));
    if (!absent)
        add_value(around, hash);
}

struct hash128 pod_template_decode(struct json_reader *r) {
    struct reading reading = {.levels = NULL};
    struct hash128 ret = {0}, value;
    if (json_null(r))
        return ret;
    if (json_peek(r) != JSON_OBJECT) {
        (void)json_object(r); /* reports the wrong type */
        return ret;
    }
    enter(r, &reading, (struct str){0});
    while (reading.depth > 0 && !json_failed(r)) {
        struct level *level = &reading.levels[reading.depth - 1];
        if (!(level->is_object ? json_member(r, &level->key) : json_element(r))) {
            leave(&reading, &ret);
            continue;
        }
        const enum json_kind kind = json_peek(r);
        if (level->is_object && is_hash_label(&reading, level->key))
            (void)json_skip(r); /* this label differs by design */
        else if (kind == JSON_OBJECT || kind == JSON_ARRAY)
            enter(r, &reading, level->is_object ? level->key : (struct str){0});
        else if (scalar_decode(r, level->amounts, &value))
            add_value(level, value);
        else if (!level->is_object)
            add_value(level, (struct hash128){0}); /* a null element of an array counts */
    }
    return ret;
}
