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
    SIM_SLOTS = 24, /* slots of the kind with most slots */
    SIM_NAMESPACES = 4,
    SIM_LABELS = 2,       /* label keys of pods; topology keys of nodes */
    SIM_LABEL_VALUES = 3, /* value 0 is "" */
    SIM_SELECTORS = 3,    /* selectors of workloads; 0: no selector */
    SIM_NO_NODE = 255,
    SIM_LARGE_BYTES = 5 << 20,
    SIM_MANY_LABELS = 3000,
};

/* The size of an object, or the reason why our decoder refuses it. */
enum bulk {
    BULK_ORDINARY,
    BULK_LARGE,     /* 5 MB of annotations */
    BULK_OVERSIZED, /* beyond LIMIT_KUBE_EVENT */
    BULK_LABELLED,  /* more labels than most APIs let an object have; Kubernetes does */
    BULK_REFUSED,   /* valid JSON that object_decode() refuses */
};

enum phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED };

struct thing {
    bool exists, terminating;
    uint8_t node; /* pods: slot of a node, or a slot without a node; SIM_NO_NODE: not bound */
    uint8_t phase, bulk, selector;
    bool tainted;
    int8_t labels[SIM_LABELS]; /* numbers of values; -1: the label is missing */
    uint32_t incarnation;      /* number for a pod's UID; never used twice */
    uint64_t revision;         /* revision of its last change */
};

/* The form of an object in an answer. */
struct thing_style {
    bool bare;       /* an item of a list: without kind and apiVersion */
    bool odd;        /* members in another order than an API server's */
    bool no_version; /* a fault */
};

uint32_t thing_slots(enum object_kind kind);
/* Return the plural of the kind, as in metrics; the kind of its list; its path. */
const char *thing_resource(enum object_kind kind);
const char *thing_list_kind(enum object_kind kind);
const char *thing_api_version(enum object_kind kind);
const char *thing_path(enum object_kind kind);
uint32_t thing_namespace(uint32_t slot);

/* Does the query of our watch of this kind select the thing? */
bool thing_selected(enum object_kind kind, const struct thing *thing);
/* Would the cache keep the thing? Of pods it keeps only those that are bound and not finished. */
bool thing_held(enum object_kind kind, const struct thing *thing);

/* Return the name of label number `key` of a pod or a node, and the text of a value. */
const char *thing_label_key(enum object_kind kind, uint32_t key);
const char *thing_label_value(int8_t value);
/* Adds the labels that a workload's selector demands to `want`; -1: any value or none. */
void thing_want(uint8_t selector, int8_t want[SIM_LABELS]);
bool thing_has(const int8_t labels[SIM_LABELS], const int8_t want[SIM_LABELS]);
/* Does the workload selector with this number select a pod with these labels? Selector 0 selects no
 * pod. */
bool thing_selects(uint8_t selector, const int8_t labels[SIM_LABELS]);

/* Appends text as a JSON string the way Go's encoder does, '<', '>' and '&' escaped. */
void thing_put_string(struct strbuf *out, struct str text);
/* Appends the object. `version` is its resourceVersion. */
void thing_write(enum object_kind kind, uint32_t slot, const struct thing *thing,
                 struct str version, struct thing_style style, struct strbuf *out);
