/*
 * Any text as a selector string, a LabelSelector and a node affinity. What is accepted is
 * canonical; a copy has the same key and matches the same labels; matching never fails.
 */
#include "fuzz/fuzz.h"
#include "model/affinity.h"
#include "model/selector.h"

static const size_t ARENA_BYTES = 16u << 20;

static const struct label items[] = {
    {{"a", 1}, {"1", 1}},  {{"b", 1}, {"", 0}},          {{"metadata.name", 13}, {"n", 1}},
    {{"n", 1}, {"-5", 2}}, {{"x.y/z", 5}, {"value", 5}},
};
static const struct labels some = {items, sizeof items / sizeof items[0]};
static const struct labels none = {0};

/* ---- selectors ---- */

static void check_canonical(const struct selector *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        require(label_key_valid(s->items[i].key));
        require(i == 0 || str_cmp(s->items[i - 1].key, s->items[i].key) <= 0);
        for (uint32_t v = 0; v < s->items[i].value_count; v++) {
            require(label_value_valid(s->items[i].values[v]));
            require(v == 0 || str_cmp(s->items[i].values[v - 1], s->items[i].values[v]) < 0);
        }
    }
}

static void check_selector(const struct selector *s) {
    struct arena arena;
    struct selector copy, again;
    struct strbuf key = {0}, copied = {0};
    arena_init(&arena, ARENA_BYTES);
    check_canonical(s);
    require(selector_copy(s, &arena, &copy) == 0);
    selector_key(s, &key);
    selector_key(&copy, &copied);
    require(str_eq(strbuf_str(&key), strbuf_str(&copied)));
    if (!s->nothing) { /* canonical is canonical */
        struct requirement *shuffled = arena_array(&arena, copy.count, sizeof *shuffled);
        require(shuffled != NULL);
        for (uint32_t i = 0; i < copy.count; i++)
            shuffled[i] = copy.items[copy.count - 1 - i];
        selector_canonicalize(shuffled, copy.count, &again);
        strbuf_clear(&copied);
        selector_key(&again, &copied);
        require(str_eq(strbuf_str(&key), strbuf_str(&copied)));
    }
    require(selector_matches(s, labels_lookup, &some) ==
            selector_matches(&copy, labels_lookup, &some));
    require(selector_matches(s, labels_lookup, &none) ==
            selector_matches(&copy, labels_lookup, &none));
    require(!s->nothing || !selector_matches(s, labels_lookup, &some));
    strbuf_done(&key);
    strbuf_done(&copied);
    arena_done(&arena);
}

static void as_string(struct str text) {
    struct arena arena;
    struct selector selector;
    struct err err = {0};
    arena_init(&arena, ARENA_BYTES);
    int r = selector_parse(text, &arena, &selector, &err);
    require((r == 0) == (err.code == 0) && (r == 0 || err.text[0] != '\0'));
    if (r == 0)
        check_selector(&selector);
    arena_done(&arena);
}

static void as_label_selector(struct str text) {
    struct arena arena;
    struct json_reader r;
    struct selector selector;
    struct err err = {0};
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, text, &arena, "selector");
    struct label_selector decoded = label_selector_decode(&r);
    if (json_finish(&r, &err) == 0) {
        int failed = selector_compile(&decoded, some, &arena, &selector, &err);
        require((failed == 0) == (err.code == 0));
        if (failed == 0)
            check_selector(&selector);
        if (selector_compile(&decoded, none, &arena, &selector, NULL) == 0)
            check_selector(&selector);
    }
    arena_done(&arena);
}

/* ---- node affinity ---- */

static void as_affinity(struct str text) {
    struct arena arena;
    struct json_reader r;
    struct node_affinity affinity = {.node_selector = {items, 1}}, copy;
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, text, &arena, "affinity");
    affinity_decode(&r, &affinity);
    if (json_finish(&r, NULL) == 0) {
        struct strbuf key = {0}, copied = {0};
        require(node_affinity_copy(&affinity, &arena, &copy) == 0);
        node_affinity_key(&affinity, &key);
        node_affinity_key(&copy, &copied);
        require(str_eq(strbuf_str(&key), strbuf_str(&copied)));
        require(node_affinity_matches(&affinity, STR("n"), labels_lookup, &some) ==
                node_affinity_matches(&copy, STR("n"), labels_lookup, &some));
        require(!node_affinity_matches(&affinity, STR("n"), labels_lookup, &none));
        strbuf_done(&key);
        strbuf_done(&copied);
    }
    arena_done(&arena);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct str text = {(const char *)bytes, n};
    as_string(text);
    as_label_selector(text);
    as_affinity(text);
    return 0;
}
