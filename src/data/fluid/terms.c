#include "data/fluid/terms.h"

#include "base/hash.h"
#include "data/fluid/doc.h"

#include <errno.h>
#include <stdlib.h>

static const char *const lists[] = {"matchExpressions", "matchFields"};

/* ---- requirements ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The texts of a list of strings, sorted, each once. Owned by the caller; NULL when out of memory.
 */
static const char **sorted_texts(const cJSON *values, size_t count, size_t *ret_count) {
    const char **texts = calloc(count + 1, sizeof *texts);
    const cJSON *value;
    size_t n = 0, unique = 0;
    if (texts == NULL)
        return NULL;
    cJSON_ArrayForEach(value, values) texts[n++] = value->valuestring;
    qsort(texts, n, sizeof *texts, by_text);
    for (size_t i = 0; i < n; i++)
        if (unique == 0 || strcmp(texts[unique - 1], texts[i]) != 0)
            texts[unique++] = texts[i];
    *ret_count = unique;
    return texts;
}

/* How many there are, or SIZE_MAX: not all of them are strings. */
static size_t count_strings(const cJSON *values) {
    const cJSON *value;
    size_t count = 0;
    cJSON_ArrayForEach(value, values) {
        if (!cJSON_IsString(value))
            return SIZE_MAX;
        count++;
    }
    return count;
}

/* What is no string is in no list that an API server takes: such lists are never equal. */
static bool same_values(const cJSON *a, const cJSON *b, struct steps *steps) {
    size_t a_count = count_strings(a), b_count = count_strings(b);
    if (a_count == SIZE_MAX || b_count == SIZE_MAX || !steps_take(steps, a_count + b_count))
        return false;
    if (a_count <= 1 && b_count <= 1)
        return a_count == b_count &&
               (a_count == 0 || strcmp(a->child->valuestring, b->child->valuestring) == 0);
    const char **ours = sorted_texts(a, a_count, &a_count);
    const char **theirs = sorted_texts(b, b_count, &b_count);
    bool same = ours != NULL && theirs != NULL && a_count == b_count;
    if (ours == NULL || theirs == NULL)
        (void)steps_take(steps, UINT32_MAX); /* as good as too much work: the pod stays as it is */
    for (size_t i = 0; same && i < a_count; i++)
        same = strcmp(ours[i], theirs[i]) == 0;
    free(ours);
    free(theirs);
    return same;
}

bool terms_same_requirement(const cJSON *a, const cJSON *b, struct steps *steps) {
    return steps_take(steps, 1) && strcmp(doc_string(a, "key"), doc_string(b, "key")) == 0 &&
           strcmp(doc_string(a, "operator"), doc_string(b, "operator")) == 0 &&
           same_values(doc_array(a, "values"), doc_array(b, "values"), steps);
}

bool terms_have(const cJSON *list, const cJSON *wanted, struct steps *steps) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (terms_same_requirement(item, wanted, steps))
            return true;
    }
    return false;
}

bool terms_imply(const cJSON *term, const cJSON *other, struct steps *steps) {
    for (size_t i = 0; i < 2; i++) {
        const cJSON *mine = doc_array(term, lists[i]), *wanted;
        cJSON_ArrayForEach(wanted, doc_array(other, lists[i])) {
            if (!terms_have(mine, wanted, steps))
                return false;
        }
    }
    return true;
}

/* ---- a set of terms ---- */

struct term_entry {
    struct hash128 hash; /* keyed: equal ones are of equal terms */
    bool used;
};

static int by_hash(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct hash128));
}

static int put_values(const cJSON *values, struct strbuf *out, struct steps *steps) {
    size_t count = count_strings(values);
    if (count == SIZE_MAX) { /* equal to no other */
        strbuf_append(out, &values, sizeof values);
        return 0;
    }
    if (!steps_take(steps, count))
        return 0;
    const char **texts = sorted_texts(values, count, &count);
    if (texts == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        strbuf_append(out, texts[i], strlen(texts[i]) + 1);
    free(texts);
    return 0;
}

/* Lists are told apart by their number. */
static int hash_requirement(const cJSON *requirement, size_t list, struct steps *steps,
                            struct hash128 *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const char *key = doc_string(requirement, "key"), *op = doc_string(requirement, "operator");
    strbuf_append(&text, &list, sizeof list);
    strbuf_append(&text, key, strlen(key) + 1);
    strbuf_append(&text, op, strlen(op) + 1);
    int r = put_values(doc_array(requirement, "values"), &text, steps);
    *ret = hash_bytes128(text.p, text.n);
    return r != 0 || strbuf_failed(&text) ? -ENOMEM : 0;
}

static int hash_term(const cJSON *term, struct steps *steps, struct hash128 *ret) {
    const cJSON *item;
    size_t count = 0, unique = 0;
    for (size_t i = 0; i < 2; i++)
        count += (size_t)cJSON_GetArraySize(doc_array(term, lists[i]));
    struct hash128 *hashes = calloc(count + 1, sizeof *hashes);
    int r = hashes == NULL ? -ENOMEM : 0;
    count = 0;
    for (size_t i = 0; i < 2; i++)
        cJSON_ArrayForEach(item, doc_array(term, lists[i])) {
            if (r == 0 && steps_take(steps, 1))
                r = hash_requirement(item, i, steps, &hashes[count++]);
        }
    if (count > 0)
        qsort(hashes, count, sizeof *hashes, by_hash);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || by_hash(&hashes[unique - 1], &hashes[i]) != 0)
            hashes[unique++] = hashes[i];
    if (r == 0)
        *ret = hash_bytes128(hashes, unique * sizeof *hashes);
    free(hashes);
    return r;
}

/* Where this one is, or is to be: there is room for it. */
static struct term_entry *find_entry(const struct term_set *set, struct hash128 hash) {
    size_t at = hash.a & (set->cap - 1);
    while (set->entries[at].used && by_hash(&set->entries[at].hash, &hash) != 0)
        at = (at + 1) & (set->cap - 1);
    return &set->entries[at];
}

static int grow(struct term_set *set) {
    struct term_set larger = {.cap = set->cap > 0 ? 2 * set->cap : 16, .count = set->count};
    if (2 * (set->count + 1) <= set->cap)
        return 0;
    larger.entries = calloc(larger.cap, sizeof *larger.entries);
    if (larger.entries == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < set->cap; i++)
        if (set->entries[i].used)
            *find_entry(&larger, set->entries[i].hash) = set->entries[i];
    free(set->entries);
    *set = larger;
    return 0;
}

int term_set_add(struct term_set *set, const cJSON *term, struct steps *steps, bool *ret_added) {
    struct hash128 hash;
    if (grow(set) != 0 || hash_term(term, steps, &hash) != 0)
        return -ENOMEM;
    struct term_entry *entry = find_entry(set, hash);
    *ret_added = !entry->used;
    set->count += !entry->used;
    *entry = (struct term_entry){hash, true};
    return 0;
}

void term_set_done(struct term_set *set) {
    free(set->entries);
    *set = (struct term_set){0};
}
