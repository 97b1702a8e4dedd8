#include "clusters/ask.h"

#include "base/json_writer.h"
#include "model/names.h"

#include <errno.h>

/* If the request has no Placement, it asks about the known Placement of this name. */
struct asked {
    struct str namespace, name;
    struct placement_request request;
};

static int read_named(const struct fleet_view *view, const struct asked *asked, struct arena *arena,
                      struct placement *ret, struct err *err) {
    const struct str json = fleet_placement_json(view, asked->namespace, asked->name);
    struct json_reader r;
    if (json.n == 0)
        return err_set(err, -ENOENT, "no Placement '%.*s/%.*s' is known", STR_ARG(asked->namespace),
                       STR_ARG(asked->name));
    json_reader_init(&r, json, arena, PLACEMENT_KIND);
    placement_decode_as(&r, (struct placement_reading){.is_stored = true}, ret);
    return json_finish(&r, err);
}

static bool is_too_large(const struct fleet_view *view, const struct asked *asked) {
    return fleet_placement_state(view, asked->namespace, asked->name).too_large;
}

/* Writes the answer for a Placement that cannot be decided. */
static int put_undecided(const struct asked *asked, struct str reason, struct str message,
                         struct str error, struct arena *arena, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(
        &w, STR("placement"),
        arena_printf(arena, "%.*s/%.*s", STR_ARG(asked->namespace), STR_ARG(asked->name)));
    json_key(&w, STR("spreadSatisfied"));
    json_begin_object(&w);
    json_put_member(&w, STR("status"), STR("Unknown"));
    json_put_member(&w, STR("reason"), reason);
    json_put_member(&w, STR("message"), message);
    json_end_object(&w);
    json_put_member(&w, STR("error"), error);
    json_end_object(&w);
    return arena_failed(arena) ? -ENOMEM : 0;
}

static int put_too_large(const struct asked *asked, struct arena *arena, struct strbuf *out) {
    return put_undecided(
        asked, STR("TooLarge"), STR(FLEET_TOO_LARGE ": decisions stay as they are"),
        STR(FLEET_TOO_LARGE ". Make it smaller: 64 KiB without status, 512 KiB of status and 200 "
                            "clusters in a PlacementDecision fit; or have fewer objects in the "
                            "namespace"),
        arena, out);
}

static int put_negative(const struct asked *asked, int32_t number, struct arena *arena,
                        struct strbuf *out) {
    return put_undecided(
        asked, ocm_spread_reason_names[OCM_SPREAD_MISCONFIGURED],
        arena_printf(arena, OCM_NEGATIVE_NUMBER ": decisions stay as they are", number),
        arena_printf(arena, OCM_NEGATIVE_NUMBER, number), arena, out);
}

static int ask(const struct clusters_known *known, const struct asked *asked, struct arena *arena,
               struct strbuf *out, struct err *err) {
    struct steps steps = {.max = arena->steps.max}; /* steps for building the view */
    struct placement_request request = asked->request;
    struct placement named;
    struct fleet_view view;
    int r = 0;
    struct policies *held = known->policies != NULL ? policies_hold(known->policies) : NULL;
    if (held != NULL)
        request.policies.items = policies_items(held, &request.policies.count);
    fleet_view_open(known->fleet, &view);
    view.clusters.steps = &steps;
    if (request.placement == NULL) {
        r = read_named(&view, asked, arena, &named, err);
        request.placement = &named;
    }
    if (r == 0 && asked->request.placement == NULL && is_too_large(&view, asked))
        r = put_too_large(asked, arena, out);
    else if (r == 0 && request.placement->number < 0)
        r = put_negative(asked, request.placement->number, arena, out);
    else if (r == 0)
        r = placement_answer(&view, &request, arena, out, err);
    fleet_view_close(&view);
    if (held != NULL)
        policies_release(held);
    return r;
}

int clusters_ask(const struct clusters_known *known, const struct clusters_question *q,
                 enum placement_verb verb, int64_t now_ms, struct arena *arena, struct strbuf *out,
                 struct err *err) {
    const struct asked asked = {.request = {
                                    .placement = &q->placement,
                                    .now_ms = q->has_now ? q->now_ms : now_ms,
                                    .verb = verb,
                                    .has_names = q->has_names,
                                    .names = q->names,
                                    .name_count = q->name_count,
                                    .how = {.limit = q->limit, .with_rounds = q->with_rounds},
                                }};
    return ask(known, &asked, arena, out, err);
}

int clusters_ask_by_name(const struct clusters_known *known, struct str namespace, struct str name,
                         uint32_t limit, int64_t now_ms, struct arena *arena, struct strbuf *out,
                         struct err *err) {
    const struct asked asked = {
        .namespace = namespace,
        .name = name,
        .request = {.now_ms = now_ms, .verb = PLACEMENT_SELECT, .how = {.limit = limit}}};
    return ask(known, &asked, arena, out, err);
}
