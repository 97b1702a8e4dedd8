#include "topology/ordered_domains.h"

#include <errno.h>

static uint32_t domain_of(const struct ordered_term *term, uint32_t slot) {
    uint32_t domain = term->column.domain_of[slot];
    if (domain != TOPOLOGY_NONE)
        return domain;
    return term->column.empty != TOPOLOGY_NONE ? term->column.empty : term->column.domains;
}

int ordered_domains_init(struct ordered_domains *d, struct arena *arena, uint32_t slots) {
    return prefix_tree_init(&d->tree, arena, slots / 4);
}

int ordered_domains_add(struct ordered_domains *d, uint32_t slot, int64_t count) {
    uint32_t prefix = PREFIX_ROOT;
    for (uint32_t t = 0; t < d->term_count && prefix != PREFIX_NONE; t++)
        prefix = prefix_make(&d->tree, prefix, domain_of(&d->terms[t], slot));
    if (prefix == PREFIX_NONE)
        return -ENOMEM;
    prefix_add(&d->tree, prefix, count);
    return 0;
}

uint32_t ordered_domains_step(const struct ordered_domains *d, uint32_t prefix, uint32_t t,
                              uint32_t slot) {
    return prefix_find(&d->tree, prefix, domain_of(&d->terms[t], slot));
}

uint32_t ordered_domains_leaf(const struct ordered_domains *d, uint32_t slot) {
    uint32_t prefix = PREFIX_ROOT;
    for (uint32_t t = 0; t < d->term_count && prefix != PREFIX_NONE; t++)
        prefix = ordered_domains_step(d, prefix, t, slot);
    return prefix;
}

bool ordered_domains_lack(const struct ordered_domains *d, uint32_t slot, bool any,
                          uint32_t *ret_term) {
    for (uint32_t t = 0; t < d->term_count; t++)
        if ((any || d->terms[t].hard) && d->terms[t].column.domain_of[slot] == TOPOLOGY_NONE) {
            *ret_term = t;
            return true;
        }
    return false;
}

int64_t ordered_domains_score(const struct ordered_domains *d, uint32_t slot) {
    uint32_t prefix = PREFIX_ROOT;
    int64_t score = 0;
    for (uint32_t t = 0; t < d->term_count; t++) {
        const struct prefix *parent = NULL;
        if (prefix != PREFIX_NONE) {
            parent = &d->tree.items[prefix];
            prefix = ordered_domains_step(d, prefix, t, slot);
        }
        int64_t part = 0;
        if (prefix != PREFIX_NONE && parent->most > parent->least)
            part = ORDERED_TERM_MAX * (parent->most - d->tree.items[prefix].count) /
                   (parent->most - parent->least);
        score = score << ORDERED_TERM_BITS | part;
    }
    return score;
}
