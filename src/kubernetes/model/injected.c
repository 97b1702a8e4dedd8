#include "model/injected.h"

#include "base/json_reader.h"
#include "base/json_writer.h"

static const struct str gate_before = {"managedCluster.scores(\"", 23},
                        gate_between = {"\").exists(s, s.name == \"", 24},
                        gate_after = {"\" && s.value > 0)", 17};

/* ---- keys ---- */

/* Reads a whole text as a number without sign and leading zeros. Returns UINT32_MAX if the text is
 * not such a number. */
static uint32_t read_shard(struct str text) {
    uint32_t shard = 0;
    if (text.n == 0 || text.n > 3 || (text.n > 1 && text.p[0] == '0'))
        return UINT32_MAX;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return UINT32_MAX;
        shard = shard * 10 + (uint32_t)(text.p[i] - '0');
    }
    return shard;
}

/* FNV-1a, without a secret key: every process must get the same hash, and users cannot choose a
 * uid. */
static uint64_t hash_of_uid(struct str uid) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < uid.n; i++)
        hash = (hash ^ (unsigned char)uid.p[i]) * 0x100000001b3u;
    return hash;
}

struct injected_key injected_key_of(struct str uid, uint32_t shards) {
    const uint64_t hash = hash_of_uid(uid);
    const uint32_t count = shards < INJECTED_SHARDS ? shards : INJECTED_SHARDS;
    return (struct injected_key){.shard = count > 0 ? (uint32_t)(hash >> 32) % count : 0,
                                 .number = (uint32_t)hash};
}

/* Reads eight hexadecimal digits, in lower case. */
static bool read_number(struct str text, uint32_t *ret) {
    *ret = 0;
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        const bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f'))
            return false;
        *ret = *ret << 4 | (uint32_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return text.n == 8;
}

static const struct str resource_prefix = {"evenkeel-", 9};

bool injected_resource_read(struct str resource, uint32_t *ret_shard) {
    if (!str_has_prefix(resource, resource_prefix))
        return false;
    *ret_shard =
        read_shard((struct str){resource.p + resource_prefix.n, resource.n - resource_prefix.n});
    return *ret_shard != UINT32_MAX;
}

bool injected_key_read(struct str resource, struct str score, struct injected_key *ret) {
    const size_t dash = str_find(score, '-');
    if (!injected_resource_read(resource, &ret->shard) || score.n == 0 || score.p[0] != 's' ||
        dash == SIZE_MAX)
        return false;
    const struct str shard = {resource.p + resource_prefix.n, resource.n - resource_prefix.n};
    return str_eq(shard, (struct str){score.p + 1, dash - 1}) &&
           read_number((struct str){score.p + dash + 1, score.n - dash - 1}, &ret->number);
}

bool gate_read(struct str e, struct injected_key *ret) {
    const size_t fixed = gate_before.n + gate_between.n + gate_after.n;
    if (e.n < fixed || !str_has_prefix(e, gate_before) || !str_has_suffix(e, gate_after))
        return false;
    struct str rest = {e.p + gate_before.n, e.n - gate_before.n - gate_after.n};
    const size_t quote = str_find(rest, '"');
    if (quote == SIZE_MAX)
        return false;
    const struct str resource = {rest.p, quote};
    rest = (struct str){rest.p + quote, rest.n - quote};
    if (!str_has_prefix(rest, gate_between))
        return false;
    const struct str score = {rest.p + gate_between.n, rest.n - gate_between.n};
    return injected_key_read(resource, score, ret);
}

struct str injected_resource_json(struct injected_key key, struct arena *arena) {
    return arena_printf(arena, "\"" INJECTED_RESOURCE "\"", key.shard);
}

struct str injected_score_json(struct injected_key key, struct arena *arena) {
    return arena_printf(arena, "\"" INJECTED_SCORE "\"", key.shard, key.number);
}

struct str gate_json(struct injected_key key, struct arena *arena) {
    return arena_printf(arena,
                        "\"managedCluster.scores(\\\"evenkeel-%u\\\").exists(s, s.name == "
                        "\\\"s%u-%08x\\\" && s.value > 0)\"",
                        key.shard, key.shard, key.number);
}

/* ---- the annotation ---- */

static const struct str policy_word = {"prioritizerPolicy", 17},
                        predicates_word = {"predicates", 10}, score_word = {"score", 5},
                        gate_word = {"gate", 4};

static void read_added(struct json_reader *r, struct injected *ret) {
    if (!json_array(r))
        return;
    while (json_element(r)) {
        const struct str word = json_string(r);
        ret->made_policy |= str_eq(word, policy_word);
        ret->made_predicates |= str_eq(word, predicates_word);
        ret->gated |= str_eq(word, gate_word);
    }
}

void injected_read(struct str text, struct arena *arena, struct injected *ret) {
    struct json_reader r;
    struct str member, resource = {0}, score = {0};
    struct injected read = {.valid = true};
    struct err unsaid; /* a bad annotation is ignored, and so is its error */
    json_reader_init(&r, text, arena, "annotation");
    if (json_object(&r))
        while (json_member(&r, &member)) {
            if (str_eq(member, STR("key")))
                score = json_string(&r);
            else if (str_eq(member, STR("resource")))
                resource = json_string(&r);
            else if (str_eq(member, STR("weight")))
                read.weight = (int32_t)json_integer(&r, -INJECTED_WEIGHT, INJECTED_WEIGHT);
            else if (str_eq(member, STR("added")))
                read_added(&r, &read);
        }
    *ret = (struct injected){.valid = false};
    if (json_finish(&r, &unsaid) == 0 && injected_key_read(resource, score, &read.key))
        *ret = read;
}

struct str injected_write(const struct injected *injected, bool gated, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_key(&w, STR("key"));
    json_put_raw(&w, injected_score_json(injected->key, arena));
    json_key(&w, STR("resource"));
    json_put_raw(&w, injected_resource_json(injected->key, arena));
    if (injected->weight != 0) {
        json_key(&w, STR("weight"));
        json_put_integer(&w, injected->weight);
    }
    json_key(&w, STR("added"));
    json_begin_array(&w);
    if (injected->made_policy)
        json_put_string(&w, policy_word);
    json_put_string(&w, score_word);
    if (injected->made_predicates)
        json_put_string(&w, predicates_word);
    if (gated)
        json_put_string(&w, gate_word);
    json_end_array(&w);
    json_end_object(&w);
    return arena_str(arena, strbuf_failed(&out) ? STR("") : strbuf_str(&out));
}
