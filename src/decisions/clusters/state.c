#include "clusters/state.h"

#include "fleet/karmada.h"
#include "state/file_source.h"

#include <errno.h>

/* ---- policies among the objects ---- */

static int begin_policies(void *ctx, struct err *err) {
    (void)err;
    policy_live_begin(ctx);
    return 0;
}

/* Takes a policy. A policy that an API server would refuse is an error here; it is not kept as a
 * policy that cannot work. */
static int take_policy(void *ctx, const struct file_object *object, struct err *err) {
    struct policy policy;
    if (watched_kind_find(object->type) != &watched_kinds[KIND_TOPOLOGY_POLICY])
        return 0;
    struct json_reader r = file_object_reader(object);
    policy_decode(&r, &policy);
    int failed = json_check(&r, err);
    return failed != 0 ? failed : policy_live_apply(ctx, object->json, err);
}

static int end_policies(void *ctx, struct err *err) {
    return policy_live_end(ctx, err);
}

static void give_up_policies(void *ctx) {
    policy_live_begin(ctx); /* policies are not in force before the end of a listing */
}

static struct file_follower policy_follower(struct policy_source *policies) {
    return (struct file_follower){policies,     begin_policies,   take_policy,
                                  end_policies, give_up_policies, NULL};
}

/* ---- files ---- */

static int open_state(struct clusters_state *s, const char *const *policy_paths,
                      size_t policy_path_count, struct err *err) {
    *s = (struct clusters_state){.fleet = NULL};
    int r = fleet_new(&s->fleet, err);
    if (r == 0)
        r = informer_new(&karmada_store, NULL, &s->karmada, err);
    if (r == 0)
        r = policy_source_new(policy_paths, policy_path_count, &s->policies, err);
    return r == 0 ? policy_source_load(s->policies, err) : r;
}

int clusters_state_load(const char *const *paths, size_t path_count,
                        const char *const *policy_paths, size_t policy_path_count,
                        struct clusters_state *ret, struct err *err) {
    struct file_source *files = NULL;
    struct file_source_result unused;
    int r = open_state(ret, policy_paths, policy_path_count, err);
    struct file_follower policies = policy_follower(ret->policies);
    if (r != 0 || path_count == 0)
        return r;
    r = file_source_new(paths, path_count, NULL, &files, err);
    if (r == 0) {
        file_source_follow(files, informer_follower(fleet_informer(ret->fleet)));
        file_source_follow(files, informer_follower(ret->karmada));
        file_source_follow(files, &policies);
        r = file_source_load(files, &unused, err);
    }
    file_source_free(files);
    return r;
}

/* ---- a List ---- */

struct walk {
    struct file_follower *followers[3];
};

static int take_object(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    const struct walk *w = ctx;
    (void)json_peek(r); /* skips blanks before the object */
    const char *begin = r->p;
    (void)json_skip(r);
    if (json_failed(r))
        return 0; /* the walk fails with the reader's error */
    const struct file_object object = {
        .type = type, .json = {begin, (size_t)(r->p - begin)}, .arena = r->arena, .behind = r};
    int failed = 0;
    for (size_t i = 0; failed == 0 && i < sizeof w->followers / sizeof w->followers[0]; i++)
        failed = w->followers[i]->take(w->followers[i]->ctx, &object, err);
    return failed;
}

int clusters_state_read(struct str list, struct clusters_state *ret, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    int r = open_state(ret, NULL, 0, err);
    if (r != 0)
        return r;
    struct file_follower policies = policy_follower(ret->policies);
    struct walk walk = {{informer_follower(fleet_informer(ret->fleet)),
                         informer_follower(ret->karmada), &policies}};
    const size_t count = sizeof walk.followers / sizeof walk.followers[0];
    for (size_t i = 0; r == 0 && i < count; i++)
        r = walk.followers[i]->begin(walk.followers[i]->ctx, err);
    if (r == 0)
        r = objects_walk(list, &arena, take_object, &walk, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = walk.followers[i]->end(walk.followers[i]->ctx, err);
    return r == 0 ? 0 : err_wrap(err, "state");
}

void clusters_state_done(struct clusters_state *s) {
    fleet_free(s->fleet);
    informer_free(s->karmada);
    policy_source_free(s->policies);
    *s = (struct clusters_state){.fleet = NULL};
}
