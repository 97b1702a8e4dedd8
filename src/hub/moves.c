#include "hub/moves.h"

bool moves_settle(const struct moves *m, const struct move_limits *limits, int64_t now_ms) {
    return m->waiting && now_ms - m->since_ms < limits->settle_ms;
}

uint32_t moves_allowed(struct moves *m, const struct move_limits *limits, uint64_t wanted,
                       uint32_t count, int64_t now_ms, int64_t *ret_wait_ms) {
    *ret_wait_ms = INT64_MAX;
    if (count == 0) {
        m->waiting = false;
        return 0;
    }
    if (!m->waiting || m->wanted != wanted) {
        m->waiting = true;
        m->wanted = wanted;
        m->since_ms = now_ms;
    }
    if (moves_settle(m, limits, now_ms)) {
        *ret_wait_ms = limits->settle_ms - (now_ms - m->since_ms);
        return 0;
    }
    if (m->begun > 0 && now_ms - m->last_ms >= MOVES_MINUTE_MS)
        m->begun = 0;
    const uint32_t room = limits->per_minute > m->begun ? limits->per_minute - m->begun : 0;
    const uint32_t allowed = count < room ? count : room;
    if (allowed < count && limits->per_minute > 0)
        *ret_wait_ms = m->begun > 0 ? MOVES_MINUTE_MS - (now_ms - m->last_ms) : MOVES_MINUTE_MS;
    return allowed;
}

void moves_begin(struct moves *m, uint32_t count, int64_t now_ms) {
    if (count == 0)
        return;
    m->begun += count;
    m->last_ms = now_ms;
}
