#include "daemon/polling.h"

enum { POLL_MS = 1000 };

void polling_init(struct polling *p, int64_t files_every_ms, int64_t now_ms) {
    *p =
        (struct polling){.files_every_ms = files_every_ms, .files_due_ms = now_ms + files_every_ms};
}

int64_t polling_wait_ms(const struct polling *p, int64_t now_ms) {
    const int64_t left_ms = p->files_due_ms - now_ms;
    if (left_ms <= 0)
        return 0;
    return left_ms < POLL_MS ? left_ms : POLL_MS;
}

bool polling_files(struct polling *p, int64_t now_ms) {
    if (now_ms < p->files_due_ms)
        return false;
    p->files_due_ms = now_ms + p->files_every_ms;
    return true;
}
