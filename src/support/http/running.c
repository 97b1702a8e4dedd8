#include "http/running.h"

#include "base/clock.h"
#include "http/http.h"

#include <stdatomic.h>
#include <stddef.h>

enum { PLACES = 256, NOWHERE = -1 };

/* Each place has its own cache line, so that threads do not slow each other down. */
static struct place {
    _Alignas(64) _Atomic int64_t began_ns; /* 0: free */
    _Atomic(const char *) verb;
} places[PLACES];

static _Atomic unsigned threads;
static _Thread_local unsigned usual; /* the place where this thread looks first, plus 1; 0: none
                                        yet */

int running_begin(const char *verb) {
    int64_t now_ns = clock_now_ns();
    if (usual == 0)
        usual = atomic_fetch_add(&threads, 1) % PLACES + 1;
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &places[(usual - 1 + i) % PLACES];
        int64_t unused = 0;
        if (!atomic_compare_exchange_strong(&place->began_ns, &unused, now_ns))
            continue;
        atomic_store_explicit(&place->verb, verb, memory_order_release);
        return (int)(place - places);
    }
    return NOWHERE;
}

void running_end(int place) {
    if (place != NOWHERE)
        atomic_store_explicit(&places[place].began_ns, 0, memory_order_release);
}

/* If a place gets another handler meanwhile, the verb may be that of the new handler; this is
 * harmless, because that handler is young. */
bool http_oldest_handler(const char **ret_verb, int64_t *ret_ms) {
    int64_t oldest_ns = INT64_MAX;
    for (size_t i = 0; i < PLACES; i++) {
        int64_t began_ns = atomic_load_explicit(&places[i].began_ns, memory_order_acquire);
        if (began_ns == 0 || began_ns >= oldest_ns)
            continue;
        oldest_ns = began_ns;
        const char *verb = atomic_load_explicit(&places[i].verb, memory_order_acquire);
        *ret_verb = verb != NULL ? verb : "";
    }
    if (oldest_ns == INT64_MAX)
        return false;
    *ret_ms = (clock_now_ns() - oldest_ns) / 1000000;
    return true;
}
