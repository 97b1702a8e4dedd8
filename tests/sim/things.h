/*
 * The objects of the simulated cluster: numbered, with properties from small alphabets so that they
 * meet often, and how each is written as JSON.
 *
 * A *thing* is what is in one *slot* of one kind: the pod "pod-7", whether it exists, and all that
 * can change about it. Slots stand for names; a namespaced slot keeps to one namespace.
 */
#pragma once

#include "base/str.h"
#include "model/object.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_SLOTS = 24, /* of the kind that has most */
    SIM_NAMESPACES = 4,
    SIM_LABELS = 2,       /* label keys of pods; topology keys of nodes */
    SIM_LABEL_VALUES = 3, /* value 0 is "" */
    SIM_SELECTORS = 3,    /* of workloads; 0 is none */
    SIM_NO_NODE = 255,
    SIM_LARGE_BYTES = 5 << 20,
    SIM_MANY_LABELS = 3000,
};

/* How heavy an object is, or whether our decoder takes it at all. */
enum bulk {
    BULK_ORDINARY,
    BULK_LARGE,     /* 5 MB of annotations */
    BULK_OVERSIZED, /* beyond LIMIT_KUBE_EVENT */
    BULK_LABELLED,  /* more labels than most APIs let an object have; Kubernetes does */
    BULK_REFUSED,   /* good JSON that object_decode() will not have */
};

enum phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED };

struct thing {
    bool exists, terminating;
    uint8_t node; /* pods: slot of a node, or one that never exists; SIM_NO_NODE: not bound */
    uint8_t phase, bulk, selector;
    bool tainted;
    int8_t labels[SIM_LABELS]; /* numbers of values; -1: no such label */
    uint32_t incarnation;      /* of pods, for the UID: never used twice */
    uint64_t revision;         /* of its last change */
};

/* How an answer writes an object. */
struct thing_style {
    bool bare;       /* an item of a list: without kind and apiVersion */
    bool odd;        /* members in another order than an API server's */
    bool no_version; /* a fault */
};

uint32_t thing_slots(enum object_kind kind);
/* The plural, as in metrics; the list's kind; the path. */
const char *thing_resource(enum object_kind kind);
const char *thing_list_kind(enum object_kind kind);
const char *thing_api_version(enum object_kind kind);
const char *thing_path(enum object_kind kind);
uint32_t thing_namespace(uint32_t slot);

/* Does the query that our watch of this kind carries select it? */
bool thing_selected(enum object_kind kind, const struct thing *thing);
/* Would the cache hold it? Only pods that are bound and not finished. */
bool thing_held(enum object_kind kind, const struct thing *thing);

/* What the label number `key` of a pod resp. a node is called, and its values. */
const char *thing_label_key(enum object_kind kind, uint32_t key);
const char *thing_label_value(int8_t value);
/* Puts what a workload's selector number wants over what is there; -1 is for any value or none. */
void thing_want(uint8_t selector, int8_t want[SIM_LABELS]);
bool thing_has(const int8_t labels[SIM_LABELS], const int8_t want[SIM_LABELS]);
/* Does a workload's selector number pick a pod with these labels? Selector 0 picks none. */
bool thing_selects(uint8_t selector, const int8_t labels[SIM_LABELS]);

/* Appends text as a JSON string the way Go's encoder does, '<', '>' and '&' escaped. */
void thing_put_string(struct strbuf *out, struct str text);
/* Appends the object. `version` is its resourceVersion. */
void thing_write(enum object_kind kind, uint32_t slot, const struct thing *thing,
                 struct str version, struct thing_style style, struct strbuf *out);
