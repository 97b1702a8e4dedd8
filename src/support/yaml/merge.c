#include "yaml/merge.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

void yaml_merger_done(struct yaml_merger *m) {
    strbuf_done(&m->text);
    hashmap_done(&m->index);
    free(m->members);
    *m = (struct yaml_merger){.count = 0};
}

/* ---- scanning JSON that was written by json_writer ---- */

/* Returns the byte after the string that begins at `at`. */
static uint32_t after_string(struct str json, uint32_t at) {
    for (at++; json.p[at] != '"'; at++)
        at += json.p[at] == '\\';
    return at + 1;
}

static bool ends_value(char c) {
    return c == ',' || c == '}' || c == ']';
}

/* Returns the byte after the value that begins at `at`. */
static uint32_t after_value(struct str json, uint32_t at) {
    uint32_t depth = 0;
    do {
        const char c = json.p[at];
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? after_string(json, at) : at + 1;
    } while (depth > 0 || (at < json.n && !ends_value(json.p[at])));
    return at;
}

bool yaml_can_merge(struct str json) {
    if (json.p[0] != '[')
        return json.p[0] == '{';
    uint32_t at = 1;
    while (json.p[at] == '{') {
        at = after_value(json, at);
        at += json.p[at] == ',';
    }
    return json.p[at] == ']';
}

/* ---- members ---- */

static bool member_is(const void *ctx, uint32_t id, const void *key) {
    const struct yaml_merger *m = ctx;
    const struct yaml_member *member = &m->members[id];
    return str_eq((struct str){m->text.p + member->begin, member->key_length},
                  *(const struct str *)key);
}

/* Adds a member, or replaces the member of its name. */
static int set_member(struct yaml_merger *m, uint32_t begin, uint32_t key_length, uint32_t end) {
    const struct str key = {m->text.p + begin, key_length};
    const uint64_t hash = hash_str(key);
    uint32_t id = hashmap_find(&m->index, hash, member_is, m, &key);
    if (id == HASHMAP_NONE) {
        if (m->count == m->cap) {
            const uint32_t cap = m->cap == 0 ? 64 : 2 * m->cap;
            struct yaml_member *members = realloc(m->members, cap * sizeof *members);
            if (members == NULL)
                return -ENOMEM;
            m->members = members;
            m->cap = cap;
        }
        if (hashmap_reserve(&m->index) != 0)
            return -ENOMEM;
        id = m->count++;
        hashmap_insert(&m->index, hash, id);
    }
    m->members[id] = (struct yaml_member){begin, end, key_length};
    return 0;
}

/* Sets the members of the object that begins at `at`, which has no merge keys. */
static int set_members(struct yaml_merger *m, uint32_t at) {
    const struct str json = strbuf_str(&m->text);
    int r = 0;
    at++;
    while (r == 0 && json.p[at] == '"') {
        const uint32_t key_end = after_string(json, at), end = after_value(json, key_end + 1);
        r = set_member(m, at, key_end - at, end);
        at = end + (json.p[end] == ',');
    }
    return r;
}

/* Sets the members of the objects of an array, the last object first. */
static int set_listed(struct yaml_merger *m, uint32_t at, uint32_t *ret_end) {
    const struct str json = strbuf_str(&m->text);
    uint32_t *begins = NULL, count = 0, cap = 0;
    int r = 0;
    for (at++; r == 0 && json.p[at] == '{'; at += json.p[at] == ',') {
        if (count == cap) {
            cap = cap == 0 ? 16 : 2 * cap;
            uint32_t *more = realloc(begins, cap * sizeof *begins);
            r = more == NULL ? -ENOMEM : 0;
            begins = more != NULL ? more : begins;
        }
        if (r == 0)
            begins[count++] = at;
        at = after_value(json, at);
    }
    *ret_end = at + 1;
    while (r == 0 && count > 0)
        r = set_members(m, begins[--count]);
    free(begins);
    return r;
}

int yaml_merge(struct yaml_merger *m, const uint32_t *merges, uint32_t count) {
    const struct str json = strbuf_str(&m->text);
    uint32_t at = 1, next = 0;
    int r = 0;
    m->count = 0;
    hashmap_done(&m->index);
    while (r == 0 && json.p[at] == '"') {
        const uint32_t key_end = after_string(json, at);
        uint32_t end = key_end + 1;
        if (next == count || merges[next] != at) {
            end = after_value(json, end);
            r = set_member(m, at, key_end - at, end);
        } else if (json.p[end] == '[') {
            next++;
            r = set_listed(m, end, &end);
        } else {
            next++;
            r = set_members(m, end);
            end = after_value(json, end);
        }
        at = end + (json.p[end] == ',');
    }
    return r;
}
