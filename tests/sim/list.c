#include "sim/answer.h"
#include "sim/sim.h"

#include <stdio.h>

/* What of the state goes into this page; returns the slot of the next one, SIM_SLOTS: no more. */
static uint32_t put_items(const struct sim *s, struct answer *a, const struct thing *things,
                          uint32_t first, uint32_t most) {
    uint32_t count = 0;
    for (uint32_t slot = first; slot < thing_slots(a->request.kind); slot++) {
        if (!thing_selected(a->request.kind, &things[slot]))
            continue;
        if (count == most)
            return slot;
        if (count++ > 0)
            answer_put(a, ",");
        struct line *line = answer_line(a, LINE_CHANGE);
        line->slot = slot;
        line->thing = things[slot];
        line->exists = true;
        line->revision = things[slot].revision;
        answer_put_object(s, a, line,
                          (struct thing_style){.bare = true, .odd = s->server.traits.odd_members});
        line->end = a->base + a->bytes.n;
    }
    return SIM_SLOTS;
}

static void put_metadata(const struct sim *s, struct answer *a, uint64_t revision,
                         enum fault fault) {
    answer_put(a, "\"metadata\":{");
    if (a->token[0] != '\0') {
        answer_put(a, "\"continue\":");
        thing_put_string(&a->bytes, str_of(a->token));
        answer_put(a, ",\"remainingItemCount\":1,");
    }
    answer_put(a, "\"selfLink\":\"\"");
    bool later = a->request.token[0] != '\0'; /* only the first page's version counts */
    if (fault != FAULT_NO_LIST_VERSION && !(later && revision % 3 == 0)) {
        answer_put(a, ",\"resourceVersion\":");
        answer_put_version(s, a, later && revision % 3 == 1 ? s->server.revision : revision);
    }
    answer_put(a, "}");
}

static uint32_t page_size(const struct sim *s, const struct answer *a) {
    const struct request *request = &a->request;
    bool any = strcmp(request->version, "0") == 0 && request->token[0] == '\0';
    if (!request->has_limit || (any && !s->server.traits.pages_any))
        return SIM_SLOTS;
    return s->server.traits.page_objects;
}

/* Finds out what the page must hold before it is written: the token stands in front of the items.
 */
static void choose_token(const struct sim *s, struct answer *a, const struct thing *things,
                         uint64_t revision, uint32_t first, uint32_t lap) {
    uint32_t count = 0, most = page_size(s, a), slot = first;
    while (slot < thing_slots(a->request.kind) &&
           !(thing_selected(a->request.kind, &things[slot]) && count++ == most))
        slot++;
    bool more = slot < thing_slots(a->request.kind), again = !more && lap > 0;
    a->token[0] = '\0';
    if (more || again)
        (void)snprintf(a->token, sizeof a->token, "next+/&%llu=%u=%u=%u",
                       (unsigned long long)revision, (unsigned)a->request.kind, more ? slot : 0,
                       lap + again);
}

/* From byte `at` on nothing is as it should be: what is told before that counts. */
static void spoil(struct answer *a, size_t at, bool shorten) {
    while (a->line_count > 0 && a->lines[a->line_count - 1].end > at)
        a->line_count--;
    if (shorten)
        a->bytes.n = at;
    else
        a->bytes.p[at] = '\001';
    struct line *line = answer_line(a, LINE_FATAL);
    line->end = at;
    line->outcome = OUTCOME_GARBLED;
}

static void put_table(const struct sim *s, struct answer *a, uint64_t revision) {
    answer_put(a, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",");
    put_metadata(s, a, revision, FAULT_NONE);
    answer_put(a, ",\"columnDefinitions\":[],\"rows\":[{\"cells\":[\"pod-1\"]}]}\n");
}

static void put_list(const struct sim *s, struct answer *a, const struct thing *things,
                     uint64_t revision, uint32_t first, enum fault fault) {
    bool odd = s->server.traits.odd_members;
    answer_put(a, "{");
    if (!odd) {
        strbuf_appendf(&a->bytes, "\"kind\":\"%s\",\"apiVersion\":\"%s\",",
                       thing_list_kind(a->request.kind), thing_api_version(a->request.kind));
        put_metadata(s, a, revision, fault);
        answer_put(a, ",");
    }
    answer_put(a, "\"items\":[");
    (void)put_items(s, a, things, first, page_size(s, a)); /* the token says where it stopped */
    answer_put(a, "]");
    if (odd) {
        answer_put(a, ",");
        put_metadata(s, a, revision, fault);
        strbuf_appendf(&a->bytes, ",\"kind\":\"%s\"", thing_list_kind(a->request.kind));
    }
    answer_put(a, "}\n");
}

void answer_list(struct sim *s, struct answer *a, uint64_t revision, uint32_t first, uint32_t lap,
                 enum fault fault) {
    struct thing things[SIM_SLOTS];
    a->ended = true;
    if (fault == FAULT_EMPTY) {
        answer_line(a, LINE_FATAL)->outcome = OUTCOME_GARBLED;
        return;
    }
    server_state(&s->server, a->request.kind, revision, things);
    choose_token(s, a, things, revision, first, lap + (a->endless && a->request.has_limit));
    if (fault == FAULT_SAME_TOKEN)
        (void)snprintf(a->token, sizeof a->token, "%s", a->request.token);
    if (fault == FAULT_TABLE) {
        put_table(s, a, revision);
        answer_line(a, LINE_FATAL)->outcome = OUTCOME_GARBLED;
        return;
    }
    put_list(s, a, things, revision, first, fault);
    if (fault == FAULT_SHORTENED || fault == FAULT_BAD_BYTE) {
        spoil(a, sim_below(s, a->bytes.n - 1), fault == FAULT_SHORTENED);
    } else if (fault == FAULT_NO_LIST_VERSION || fault == FAULT_SAME_TOKEN) {
        answer_line(a, LINE_FATAL)->outcome = OUTCOME_GARBLED;
    } else {
        struct line *line = answer_line(a, LINE_LIST_END);
        line->revision = revision;
        line->paged = a->token[0] != '\0';
    }
}
