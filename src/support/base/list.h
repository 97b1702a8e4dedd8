/*
 * Doubly linked lists of structs that have a member `struct list`. A list is a ring that includes
 * its head, so adding and removing need no special cases and cannot fail. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next, *previous;
};

/* Returns the struct of this type that contains `link` as its member `member`. */
#define LIST_ITEM(type, member, link) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Makes an empty list, or an item in no list. */
static inline void list_init(struct list *l) {
    l->next = l->previous = l;
}

static inline bool list_empty(const struct list *head) {
    return head->next == head;
}

/* Appends an item, which must be in no list. */
static inline void list_append(struct list *head, struct list *item) {
    item->next = head;
    item->previous = head->previous;
    item->previous->next = item;
    head->previous = item;
}

/* Removes an item from its list; does nothing if it is in no list. */
static inline void list_remove(struct list *item) {
    item->next->previous = item->previous;
    item->previous->next = item->next;
    list_init(item);
}
