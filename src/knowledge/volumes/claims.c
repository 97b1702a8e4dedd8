#include "volumes/claims.h"

#include "model/names.h"
#include "volumes/internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- a reading ---- */

/* The text of a place, with the number of its affinities that stand for labels: equal keys are one
 * place. */
typedef uint64_t place_key;

/* A volume of the store that some waiting claim may get. */
struct seen_volume {
    struct storage_facts facts;
    place_key place;
};

/* A waiting claim, with its facts. */
struct waiting {
    struct waiting_claim made;
    struct storage_facts facts;
    place_key place;
    uint32_t order;
};

struct claims_reading {
    const struct known *known;
    const struct pod *pod;
    struct arena *arena;
    struct pod_claims *out;
    struct bound_claim *bound;
    struct waiting *waiting;
    bool immediate;  /* a claim is not bound, and does not wait for a pod */
    struct str gone; /* the name of a missing volume, to which a claim is bound; or "" */
    struct seen_volume *volumes;
    uint32_t volume_count, volume_cap;
    place_key *keys; /* sorted, each once: the index is that of the place */
};

static const char cannot_read[] = "a claim, volume or class cannot be read";
static const char too_many[] = "too many volumes";

static void leave_unjudged(struct claims_reading *x, const char *why) {
    if (x->out->unjudged == NULL)
        x->out->unjudged = why;
}

static bool take_steps(struct claims_reading *x, uint64_t count) {
    const bool good = steps_take(&x->arena->steps, count);
    if (!good)
        leave_unjudged(x, too_many);
    return good;
}

/* The first refusal counts. */
static void refuse(struct claims_reading *x, const char *filter, const char *kind, struct str name,
                   const char *what, struct str volume) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 2000};
    if (x->out->refuser != NULL)
        return;
    strbuf_appendf(&text, "%s \"%.*s\" %s", kind, STR_ARG(name), what);
    if (!str_empty(volume))
        strbuf_appendf(&text, " \"%.*s\"", STR_ARG(volume));
    x->out->refuser = filter;
    x->out->refusal = arena_str(x->arena, strbuf_str(&text));
}

static struct str text_of(const struct claims_reading *x, uint32_t id) {
    return arena_str(x->arena, intern_str(&x->known->strings, id));
}

/* Reads an object's facts. Returns false if they cannot be read: then claims are not judged. */
static bool read_facts(struct claims_reading *x, const struct statement *s,
                       struct storage_facts *ret) {
    const struct str text = text_of(x, s->facts);
    *ret = (struct storage_facts){.deleted = false};
    if (!take_steps(x, text.n / 16 + 1))
        return false;
    const bool good = !s->too_long && (str_empty(text) || storage_decode(text, x->arena, ret) == 0);
    if (!good)
        leave_unjudged(x, cannot_read);
    return good;
}

/* ---- bound claims ---- */

static void add_bound(struct claims_reading *x, struct str claim, struct str volume) {
    const struct book *book = &x->known->books[VOLUMES];
    const struct statement *s = statement_find(book, STR(""), volume);
    struct bound_claim *bound = &x->bound[x->out->bound_count];
    struct node_affinity *found = arena_array(x->arena, AFFINITIES, sizeof *found);
    uint32_t count = 0;
    if (book->statements.count == 0)
        leave_unjudged(x, "no PersistentVolume is known");
    else if (s == NULL && str_empty(x->gone))
        x->gone = volume;
    if (s == NULL || found == NULL)
        return;
    const struct str text = text_of(x, s->text);
    if (!take_steps(x, text.n / 16 + 1))
        return;
    if (s->too_long || places_read(text, x->arena, found, &count) != 0)
        leave_unjudged(x, cannot_read);
    *bound = (struct bound_claim){.claim = claim, .volume = volume, .zones = found};
    bound->zone_count = s->zones < count ? s->zones : count;
    if (count > bound->zone_count)
        bound->affinity = &found[bound->zone_count];
    x->out->bound_count++;
}

/* ---- waiting claims ---- */

static place_key key_of(const struct statement *s) {
    return (uint64_t)s->text << 8 | s->zones;
}

static void add_waiting(struct claims_reading *x, struct str claim,
                        const struct storage_facts *facts) {
    const struct book *book = &x->known->books[CLASSES];
    const struct statement *s =
        str_empty(facts->class) ? NULL : statement_find(book, STR(""), facts->class);
    struct storage_facts class = {.waits = false};
    if (s == NULL && !str_empty(facts->class) && book->statements.count == 0)
        leave_unjudged(x, "no StorageClass is known");
    if (s != NULL && !read_facts(x, s, &class))
        return;
    if (!class.waits || !str_empty(facts->volume)) {
        x->immediate = true;
        return;
    }
    struct waiting *w = &x->waiting[x->out->waiting_count];
    *w = (struct waiting){.facts = *facts, .order = x->out->waiting_count, .place = key_of(s)};
    w->made = (struct waiting_claim){
        .claim = claim, .class = facts->class, .has_node = facts->has_node, .node = facts->node};
    w->made.provisions =
        !str_empty(class.provisioner) && !str_eq(class.provisioner, STR(NO_PROVISIONER));
    x->out->waiting_count++;
}

/* upstream: volume_binding.go, podHasPVCs; binder.go, GetPodVolumeClaims */
static void read_claim(struct claims_reading *x, struct str name) {
    static const char kind[] = "persistentvolumeclaim";
    const struct statement *s =
        statement_find(&x->known->books[CLAIMS], x->pod->meta.namespace, name);
    struct storage_facts facts;
    if (s == NULL)
        refuse(x, "VolumeBinding", kind, name, "not found", STR(""));
    if (s == NULL || !read_facts(x, s, &facts))
        return;
    const struct str volume = text_of(x, s->text);
    if (str_eq(facts.phase, STR("Lost")))
        refuse(x, "VolumeBinding", kind, name, "bound to non-existent persistentvolume", volume);
    else if (facts.deleted)
        refuse(x, "VolumeBinding", kind, name, "is being deleted", STR(""));
    else if (intern_str(&x->known->strings, s->facts).n == 0)
        add_bound(x, name, volume);
    else if (str_empty(facts.phase) && str_empty(volume))
        leave_unjudged(x, "a claim has no status");
    else
        add_waiting(x, name, &facts);
}

/* ---- the volumes that waiting claims may get ---- */

/* Could the volume be for one of the claims, by its class and by the claim that it names? */
static bool may_be_wanted(const struct claims_reading *x, const struct statement *s,
                          const uint64_t *classes, const uint64_t *names) {
    for (uint32_t i = 0; i < x->out->waiting_count; i++)
        if (s->class == classes[i] && (s->claim == 0 || s->claim == names[i]))
            return true;
    return false;
}

static void find_volumes(struct claims_reading *x) {
    const struct book *book = &x->known->books[VOLUMES];
    const uint32_t count = x->out->waiting_count;
    uint64_t *classes = arena_array(x->arena, count, sizeof *classes);
    uint64_t *names = arena_array(x->arena, count, sizeof *names);
    if (classes == NULL || names == NULL || count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = hash_str(x->waiting[i].facts.class);
        names[i] = hash_names128(x->pod->meta.namespace, x->waiting[i].made.claim).a;
    }
    for (POOL_EACH(&book->statements, id)) {
        const struct statement *s = pool_at(&book->statements, id);
        struct seen_volume seen = {.place = key_of(s)};
        if (!take_steps(x, count))
            return;
        if (!may_be_wanted(x, s, classes, names) || !read_facts(x, s, &seen.facts))
            continue;
        x->volumes = arena_push(x->arena, x->volumes, x->volume_count, &x->volume_cap, sizeof seen);
        if (x->volumes == NULL)
            return;
        x->volumes[x->volume_count++] = seen;
    }
}

static int compare_keys(const void *a, const void *b) {
    const place_key *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* Reads every place once. */
static void read_places(struct claims_reading *x) {
    const uint32_t waiting = x->out->waiting_count, all = waiting + x->volume_count;
    const struct node_affinity **places = arena_array(x->arena, all, sizeof *places);
    uint32_t count = 0;
    x->keys = arena_array(x->arena, all, sizeof *x->keys);
    if (all == 0 || places == NULL || x->keys == NULL || !take_steps(x, 2 * (uint64_t)all))
        return;
    for (uint32_t i = 0; i < all; i++)
        x->keys[i] = i < waiting ? x->waiting[i].place : x->volumes[i - waiting].place;
    qsort(x->keys, all, sizeof *x->keys, compare_keys);
    for (uint32_t i = 0; i < all; i++) {
        if (count > 0 && x->keys[count - 1] == x->keys[i])
            continue;
        const place_key key = x->keys[i];
        const struct str text = text_of(x, (uint32_t)(key >> 8));
        struct node_affinity *found = arena_array(x->arena, AFFINITIES, sizeof *found);
        uint32_t read = 0;
        if (found == NULL || !take_steps(x, text.n / 16 + 1) ||
            places_read(text, x->arena, found, &read) != 0)
            return;
        places[count] = read > (key & 0xff) ? &found[read - 1] : NULL;
        x->keys[count++] = key;
    }
    x->out->places = places;
    x->out->place_count = count;
}

static uint32_t place_of(const struct claims_reading *x, place_key key) {
    const place_key *at = bsearch(&key, x->keys, x->out->place_count, sizeof key, compare_keys);
    const uint32_t i = at == NULL ? 0 : (uint32_t)(at - x->keys);
    return at == NULL || x->out->places[i] == NULL ? POD_CLAIMS_ANYWHERE : i;
}

struct match {
    __int128 size;
    bool is_its;
    uint32_t id;
};

/* Volumes that name the claim come first, then small volumes: upstream takes the first volume that
 * fits. */
static int compare_matches(const void *a, const void *b) {
    const struct match *p = a, *q = b;
    if (p->is_its != q->is_its)
        return p->is_its ? -1 : 1;
    if (p->size != q->size)
        return p->size < q->size ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

static void match_volumes(struct claims_reading *x, struct waiting *w) {
    struct selector selector;
    struct err err;
    struct storage_claim claim = {x->pod->meta.namespace, w->made.claim, &w->facts, NULL};
    struct match *matches = arena_array(x->arena, x->volume_count, sizeof *matches);
    uint32_t count = 0;
    if (w->facts.selector.present) {
        if (!take_steps(x, label_selector_steps(&w->facts.selector)))
            return;
        if (selector_compile(&w->facts.selector, (struct labels){0}, x->arena, &selector, &err) !=
            0)
            leave_unjudged(x, cannot_read);
        claim.selector = &selector;
    }
    if (matches == NULL || x->out->unjudged != NULL ||
        !take_steps(x, 2 * (uint64_t)x->volume_count))
        return;
    for (uint32_t i = 0; i < x->volume_count; i++) {
        struct match m = {x->volumes[i].facts.size, false, i};
        if (!storage_volume_fits(&claim, &x->volumes[i].facts, &m.is_its))
            continue;
        matches[count++] = m;
        w->made.its_count += m.is_its;
    }
    struct static_volume *volumes = arena_array(x->arena, count, sizeof *volumes);
    if (volumes == NULL || count == 0)
        return;
    qsort(matches, count, sizeof *matches, compare_matches);
    for (uint32_t i = 0; i < count; i++)
        volumes[i] =
            (struct static_volume){matches[i].id, place_of(x, x->volumes[matches[i].id].place)};
    w->made.volumes = volumes;
    w->made.volume_count = count;
}

static int compare_waiting(const void *a, const void *b) {
    const struct waiting *p = a, *q = b;
    if (p->facts.size != q->facts.size)
        return p->facts.size < q->facts.size ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static void finish_waiting(struct claims_reading *x) {
    const uint32_t count = x->out->waiting_count;
    struct waiting_claim *made = arena_array(x->arena, count, sizeof *made);
    if (made == NULL || count == 0)
        return;
    qsort(x->waiting, count, sizeof *x->waiting, compare_waiting);
    for (uint32_t i = 0; i < count; i++) {
        struct waiting *w = &x->waiting[i];
        w->made.place = place_of(x, w->place);
        if (!w->made.has_node)
            match_volumes(x, w);
        made[i] = w->made;
    }
    x->out->waiting = made;
    x->out->id_count = x->volume_count;
}

/* ---- a pod's claims ---- */

static void read_all(struct claims_reading *x) {
    if (x->known->books[CLAIMS].statements.count == 0)
        leave_unjudged(x, "no PersistentVolumeClaim is known");
    for (uint32_t i = 0; x->out->unjudged == NULL && i < x->pod->claim_count; i++)
        read_claim(x, x->pod->claims[i]);
    if (x->out->unjudged != NULL) {
        x->out->refuser = NULL;
        return;
    }
    if (x->immediate && x->out->refuser == NULL) {
        x->out->refuser = "VolumeBinding";
        x->out->refusal = STR("pod has unbound immediate PersistentVolumeClaims");
    }
    if (!str_empty(x->gone))
        refuse(x, "VolumeZone", "persistentvolume", x->gone, "not found", STR(""));
    if (x->out->refuser != NULL)
        return;
    find_volumes(x);
    read_places(x);
}

int pod_claims_read(struct informer *volumes, const struct pod *pod, struct arena *arena,
                    const struct pod_claims **ret) {
    struct pod_claims *out = arena_alloc(arena, sizeof *out);
    struct claims_reading x = {.pod = pod, .arena = arena, .out = out};
    if (out == NULL)
        return -ENOMEM;
    *out = (struct pod_claims){.unjudged = NULL};
    *ret = out;
    if (pod->claim_count == 0)
        return 0;
    x.bound = arena_array(arena, pod->claim_count, sizeof *x.bound);
    x.waiting = arena_array(arena, pod->claim_count, sizeof *x.waiting);
    if (x.bound == NULL || x.waiting == NULL)
        return -ENOMEM;
    out->bound = x.bound;
    if (volumes == NULL) {
        leave_unjudged(&x, "volumes are not known here");
        return 0;
    }
    x.known = informer_read(volumes);
    read_all(&x);
    informer_read_done(volumes);
    if (out->unjudged == NULL && out->refuser == NULL)
        finish_waiting(&x);
    if (out->waiting == NULL)
        out->waiting_count = 0; /* all nodes are refused, or claims are not judged */
    return arena_failed(arena) ? -ENOMEM : 0;
}

/* ---- for people ---- */

void bound_claim_say(const struct bound_claim *claim, struct strbuf *out) {
    strbuf_appendf(out, "claim '%.*s' is bound to volume '%.*s'", STR_ARG(claim->claim),
                   STR_ARG(claim->volume));
    const char *before = ", which needs a node with ";
    if (claim->affinity != NULL) {
        strbuf_append_str(out, str_of(before));
        node_affinity_print(claim->affinity, claim->affinity->term_count, out);
        before = " and ";
    }
    for (uint32_t i = 0; i < claim->zone_count; i++) {
        strbuf_append_str(out, str_of(before));
        node_affinity_print(&claim->zones[i], 1, out); /* the other terms are for older labels */
        before = " and ";
    }
}

static void say_waiting(const struct pod_claims *claims, const struct waiting_claim *w,
                        struct strbuf *out) {
    strbuf_appendf(out, "claim '%.*s' waits for a volume of StorageClass '%.*s'", STR_ARG(w->claim),
                   STR_ARG(w->class));
    if (!w->provisions)
        strbuf_appendf(out, ", which makes none; %u volume%s may be free for it", w->volume_count,
                       w->volume_count == 1 ? "" : "s");
    if (!w->provisions || w->place == POD_CLAIMS_ANYWHERE)
        return;
    strbuf_append_str(out, STR(", which makes them for nodes with "));
    node_affinity_print(claims->places[w->place], claims->places[w->place]->term_count, out);
}

void pod_claims_say(const struct pod_claims *claims, struct strbuf *out) {
    enum { SHOWN = 3 };
    uint32_t shown = 0;
    for (uint32_t i = 0; i < claims->bound_count && shown < SHOWN; i++) {
        if (claims->bound[i].affinity == NULL && claims->bound[i].zone_count == 0)
            continue;
        strbuf_append_str(out, shown++ > 0 ? STR("; ") : STR(""));
        bound_claim_say(&claims->bound[i], out);
    }
    for (uint32_t i = 0; i < claims->waiting_count && shown < SHOWN; i++) {
        const struct waiting_claim *w = &claims->waiting[i];
        if (w->provisions && w->place == POD_CLAIMS_ANYWHERE)
            continue;
        strbuf_append_str(out, shown++ > 0 ? STR("; ") : STR(""));
        say_waiting(claims, w, out);
    }
}
