#include "evenness/latest.h"

#include "base/mutex.h"

#include <errno.h>
#include <stdlib.h>

struct evenness_latest {
    struct mutex lock; /* guards the other members, and `holders` of each report */
    struct evenness_held *held;
    uint64_t made;
};

struct evenness_latest *evenness_latest_new(void) {
    struct evenness_latest *l = calloc(1, sizeof *l);
    if (l != NULL)
        mutex_init(&l->lock);
    return l;
}

static void held_free(struct evenness_held *held) {
    if (held == NULL)
        return;
    evenness_report_free(held->report);
    free(held);
}

void evenness_latest_free(struct evenness_latest *l) {
    if (l == NULL)
        return;
    held_free(l->held);
    mutex_done(&l->lock);
    free(l);
}

int evenness_latest_set(struct evenness_latest *l, struct evenness_report *report) {
    struct evenness_held *held = malloc(sizeof *held);
    if (held == NULL) {
        evenness_report_free(report);
        return -ENOMEM;
    }
    mutex_lock(&l->lock);
    struct evenness_held *before = l->held;
    *held = (struct evenness_held){report, ++l->made, 1};
    l->held = held;
    mutex_unlock(&l->lock);
    evenness_latest_release(l, before);
    return 0;
}

struct evenness_held *evenness_latest_hold(struct evenness_latest *l) {
    mutex_lock(&l->lock);
    struct evenness_held *held = l->held;
    if (held != NULL)
        held->holders++;
    mutex_unlock(&l->lock);
    return held;
}

void evenness_latest_note(struct evenness_latest *l, struct str about, struct strbuf *out) {
    struct evenness_held *held = evenness_latest_hold(l);
    uint32_t low = 0, high = held != NULL ? held->report->note_count : 0;
    const struct evenness_note *notes = held != NULL ? held->report->notes : NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(notes[middle].about, about);
        if (order == 0)
            strbuf_append_str(out, notes[middle].text);
        if (order == 0)
            break;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    evenness_latest_release(l, held);
}

void evenness_latest_release(struct evenness_latest *l, struct evenness_held *held) {
    if (held == NULL)
        return;
    mutex_lock(&l->lock);
    bool last = --held->holders == 0;
    mutex_unlock(&l->lock);
    if (last)
        held_free(held);
}
