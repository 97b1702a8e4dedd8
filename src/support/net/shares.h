/*
 * Counts the connections of each address and each network: a tree of everybody, networks (a /24 of
 * IPv4, a /64 of IPv6) and addresses. It finds the largest address of the largest network, whose
 * connections are closed first when there are too many. So an address that shares its network with
 * a greedy one keeps its connections, and so does a network beside a greedy one.
 *
 * Everything takes expected constant time, whatever the number of addresses, and no memory after
 * the beginning: sizes change by one, so the largest size of a parent's children moves by steps of
 * one, if we know whether any child of a given size is left. Children of one parent and one size
 * are found by a hash of the two.
 *
 * Not thread-safe.
 */
#pragma once

#include "base/list.h"
#include "net/address.h"

#include <stddef.h>

/* A network, or an address with its connections. */
struct share {
    struct share *parent; /* NULL: everybody */
    struct address_key key;
    unsigned size;    /* connections of all below */
    unsigned largest; /* the size of its largest child */
    unsigned children;
    unsigned entered;       /* for the owner: connections of an address on their way in */
    size_t held;            /* for the owner: bytes that the connections below hold */
    struct list named;      /* in shares.by_key; when free, in shares.unused */
    struct list sized;      /* in shares.by_size */
    struct list idle, busy; /* for the owner of an address: its connections */
};

struct shares {
    struct share everybody;
    struct share *all; /* owned: for as many addresses and networks as there may be connections */
    unsigned count, fresh;         /* of `all`: those from `fresh` on have never been used */
    struct list unused;            /* those that are free again */
    struct list *by_key, *by_size; /* owned: heads, `mask` + 1 of them */
    unsigned mask;
};

/* For so many connections. False: no memory; shares_done() is due all the same. */
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
/* Returns the address with most connections in the network with most; of equal ones the one that
 * has been as large for longest. NULL: there are no connections. */
struct share *shares_largest(struct shares *s);
/* Has `a`, by its network or within the same one, at least two connections more than `b`? Then `b`
 * is not larger, even after it gets one connection of `a`. */
bool shares_exceeds(const struct share *a, const struct share *b);
