#include "hub/moves.h"

static int64_t left_of(int64_t since_ms, const struct move_limits *limits, int64_t now_ms) {
    const int64_t waited = now_ms - since_ms;
    return waited < limits->settle_ms ? limits->settle_ms - waited : 0;
}

bool moves_settle(const struct moves *m, const struct move_limits *limits, int64_t now_ms) {
    return m->waiting && left_of(m->names_ms, limits, now_ms) > 0 &&
           (!m->levels || left_of(m->shape_ms, limits, now_ms) > 0);
}

static void note_wish(struct moves *m, const struct moves_wish *wish, int64_t now_ms) {
    if (!m->levels || m->shape != wish->shape)
        m->shape_ms = now_ms;
    if (!m->waiting || m->names != wish->names)
        m->names_ms = now_ms;
    m->waiting = wish->count > 0;
    m->levels = wish->even > 0;
    m->shape = wish->shape;
    m->names = wish->names;
}

uint32_t moves_allowed(struct moves *m, const struct move_limits *limits,
                       const struct moves_wish *wish, int64_t now_ms, int64_t *ret_wait_ms) {
    *ret_wait_ms = INT64_MAX;
    note_wish(m, wish, now_ms);
    if (wish->count == 0)
        return 0;
    const int64_t names_left = left_of(m->names_ms, limits, now_ms);
    const int64_t shape_left = m->levels ? left_of(m->shape_ms, limits, now_ms) : names_left;
    if (names_left > 0 && shape_left > 0) {
        *ret_wait_ms = names_left < shape_left ? names_left : shape_left;
        return 0;
    }
    const uint32_t count = names_left == 0 ? wish->count : wish->even;
    if (count < wish->count)
        *ret_wait_ms = names_left;
    if (m->begun > 0 && now_ms - m->last_ms >= MOVES_MINUTE_MS)
        m->begun = 0;
    const uint32_t room = limits->per_minute > m->begun ? limits->per_minute - m->begun : 0;
    const uint32_t allowed = count < room ? count : room;
    if (allowed < count && limits->per_minute > 0) {
        const int64_t wait =
            m->begun > 0 ? MOVES_MINUTE_MS - (now_ms - m->last_ms) : MOVES_MINUTE_MS;
        *ret_wait_ms = wait < *ret_wait_ms ? wait : *ret_wait_ms;
    }
    return allowed;
}

void moves_begin(struct moves *m, uint32_t count, int64_t now_ms) {
    if (count == 0)
        return;
    m->begun += count;
    m->last_ms = now_ms;
}
