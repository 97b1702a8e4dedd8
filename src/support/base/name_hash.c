#include "base/name_hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

static struct name_hash_key key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void draw_key(void) {
    /* more than 256 bytes may come in parts, but only if a signal interrupts */
    for (size_t n = 0; n < sizeof key;) {
        ssize_t got = getrandom((char *)&key + n, sizeof key - n, 0);
        if (got <= 0)
            abort(); /* the kernel has no random bytes; this happens at start-up, before any request
                      */
        n += (size_t)got;
    }
    key.factor_low |= 1;
}

const struct name_hash_key *name_hash_key(void) {
    (void)pthread_once(&key_once, draw_key); /* cannot fail with a static once */
    return &key;
}
