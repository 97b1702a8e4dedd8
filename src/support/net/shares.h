/*
 * Counts the connections of each address and each network, in a tree: the root, networks (a /24 of
 * IPv4, a /64 of IPv6), addresses. It finds the address with most connections in the network with
 * most connections; if there are too many connections, those of this address are closed first. So
 * small addresses and networks keep their connections beside greedy ones.
 *
 * Every call takes expected constant time, and no memory after shares_init(). Sizes change by one,
 * so the largest size among a parent's children also changes by one; we must only know if any child
 * of a given size is left. A hash of parent and size finds these children.
 *
 * Not thread-safe.
 */
#pragma once

#include "base/list.h"
#include "net/address.h"

#include <stddef.h>

/* A network, or an address with its connections. */
struct share {
    struct share *parent; /* NULL: this is the root */
    struct address_key key;
    unsigned size;    /* connections of all addresses below */
    unsigned largest; /* size of the child with most connections */
    unsigned children;
    unsigned entered;       /* for the owner: connections of an address that are entered but not
                               served yet */
    size_t held;            /* for the owner: bytes that the connections below hold */
    struct list named;      /* in shares.by_key; when free, in shares.unused */
    struct list sized;      /* in shares.by_size */
    struct list idle, busy; /* for the owner of an address: its connections */
};

struct shares {
    struct share everybody;
    struct share *all; /* owned: for as many addresses and networks as there may be connections */
    unsigned count, fresh; /* count: length of `all`; items from `fresh` on have never been used */
    struct list unused;    /* items that were used and are free again */
    struct list *by_key, *by_size; /* owned: `mask` + 1 heads of lists */
    unsigned mask;
};

/* Makes room for this number of connections. Returns false without memory; call shares_done() even
 * then. */
bool shares_init(struct shares *s, unsigned connections);
void shares_done(struct shares *s);

/* Returns the share of this address; makes it if necessary. It is freed when its size falls back to
 * 0, or by shares_drop(). There is room for one share without a connection. */
struct share *shares_of(struct shares *s, const struct address_key *address);
/* Forgets an address, and its network, if they have no connections. */
void shares_drop(struct shares *s, struct share *address);
/* Adds or removes one connection; without connections the share is freed. */
void shares_grow(struct shares *s, struct share *address);
void shares_shrink(struct shares *s, struct share *address);
/* Returns the address with most connections in the network with most connections; of equal
 * addresses, the one that has had this number for longest. Returns NULL if there are no
 * connections. */
struct share *shares_largest(struct shares *s);
/* Compares the networks of `a` and `b` or, if they are in the same network, the addresses. Does the
 * side of `a` have at least two connections more? Then the side of `b` does not become larger if it
 * takes over one connection. */
bool shares_exceeds(const struct share *a, const struct share *b);
