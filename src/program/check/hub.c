#include "check/hub.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "config/purposes.h"
#include "model/names.h"

#include <stdio.h>

enum { OPENAPI_BYTES = 64 << 20, PATH_SIZE = 160 };

/* OCM's operator runs its placement controller here (manifests/cluster-manager of OCM). */
#define PLACEMENT_DEPLOYMENT "cluster-manager-placement-controller"
#define PLACEMENT_NAMESPACE "open-cluster-management-hub"

static const char upgrade[] =
    "upgrade Open Cluster Management; Evenkeel is tried with version 1.2 of it";

struct check {
    const struct configuration *configuration;
    const char *path; /* path of the findings */
    struct kube_client *client;
    struct check_report *out;
};

/* Returns the answer's status, or -errno with err. */
static int get(struct check *c, const char *path, struct strbuf *body, struct err *err) {
    int status = 0;
    strbuf_clear(body);
    int r = kube_call(c->client, "GET", path, STR(""), body, &status, err);
    return r != 0 ? r : status;
}

static void say_unseen(struct check *c, enum severity severity, const char *what, int status,
                       const struct err *err) {
    if (status < 0 || status == 200)
        check_report_add(c->out, severity, 0, c->path, "", "%s cannot be seen: %s", what,
                         status < 0 ? err->text : "the answer cannot be read");
    else
        check_report_add(c->out, severity, 0, c->path, "",
                         "%s cannot be seen: the API server says %d", what, status);
}

/* ---- reading ---- */

/* Enters the nested members of a path, and stops before the value of the last member. A name in
 * `path` that begins with a dot matches every key that ends like it. */
static bool enter_members(struct json_reader *r, const struct str *path, size_t length) {
    struct str key;
    for (size_t i = 0; i < length; i++) {
        bool found = false;
        if (!json_object(r))
            return false;
        while (!found && json_member(r, &key))
            found = str_has_suffix(key, path[i]) && (path[i].p[0] == '.' || key.n == path[i].n);
        if (!found)
            return false;
    }
    return true;
}

/* ---- kinds ---- */

/* Is the name in this list of a group version's resources? Returns 1 if so, 0 if not, or -1 if the
 * list cannot be read. */
static int lists_resource(struct str body, struct arena *arena, struct str wanted) {
    static const struct json_field fields[] = {JSON_TEXT_ALONE("name")};
    struct json_reader r;
    struct str key;
    bool found = false;
    json_reader_init(&r, body, arena, "resources");
    if (!json_object(&r))
        return -1;
    while (json_member(&r, &key))
        if (str_eq(key, STR("resources")) && json_array(&r))
            while (json_element(&r)) {
                struct str name = {0};
                json_fields(&r, &JSON_ROWS(fields), &name);
                found = found || str_eq(name, wanted);
            }
    return json_failed(&r) ? -1 : found;
}

/* Is the kind served? Returns 1 if so, 0 if not, or -1 if it is not known; then this has been
 * reported. */
static int is_served(struct check *c, const struct watched_kind *kind) {
    CLEANUP(strbuf_done) struct strbuf body = {.max = LIMIT_KUBE_BODY};
    CLEANUP(arena_done) struct arena arena;
    struct err err = {0};
    char path[PATH_SIZE];
    arena_init(&arena, LIMIT_KUBE_BODY);
    (void)snprintf(path, sizeof path, "/apis/%s/%s", kind->group, kind->version); /* fits */
    int status = get(c, path, &body, &err);
    if (status == 404)
        return 0;
    int served =
        status == 200 ? lists_resource(strbuf_str(&body), &arena, str_of(kind->resource)) : -1;
    if (served < 0)
        say_unseen(c, SEVERITY_WARNING, "which kinds are served", status, &err);
    return served;
}

static bool is_of_fleet(const struct check *c, enum server_role role,
                        const struct watched_kind *kind) {
    return str_eq(str_of(kind->group), STR(OCM_GROUP)) &&
           kind_is_watched(c->configuration, kind, role);
}

/* Returns true if Placements can be checked. */
static bool check_kinds(struct check *c, enum server_role role) {
    const struct watched_kind *missing[KIND_ROWS];
    size_t count = 0, watched = 0;
    for (size_t i = 0; i < KIND_ROWS; i++) {
        const struct watched_kind *kind = &watched_kinds[i];
        if (!is_of_fleet(c, role, kind))
            continue;
        int served = is_served(c, kind);
        if (served < 0)
            return false;
        watched++;
        if (served == 0)
            missing[count++] = kind;
    }
    if (count > 0 && count == watched) {
        const bool decides = purpose_is_wanted(c->configuration, PURPOSE_OCM);
        check_report_add(c->out, decides ? SEVERITY_ERROR : SEVERITY_WARNING, 0, c->path,
                         "install it, or set hub to the API server that has it",
                         "Open Cluster Management is not there: nothing of " OCM_GROUP
                         " is served");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        check_report_add(c->out, SEVERITY_ERROR, 0, c->path, upgrade,
                         "%s of " OCM_GROUP "/%s are not served", missing[i]->resource,
                         missing[i]->version);
    return count == 0;
}

/* ---- members of a Placement ---- */

static const struct {
    struct str part, field;
    enum severity severity; /* severity if it is missing */
    const char *missing;
} members[] = {
    {{"spec", 4},
     {"spreadPolicy", 12},
     SEVERITY_ERROR,
     "Placements have no spec.spreadPolicy here: spread terms are dropped before they are stored, "
     "and only those of TopologyPolicies count"},
    {{"status", 6},
     {"decisionGroups", 14},
     SEVERITY_WARNING,
     "Placements have no status.decisionGroups here: what is written there is dropped"},
};
enum { MEMBERS = sizeof members / sizeof members[0] };

/* Returns false if the document cannot be read. */
static bool check_members(struct check *c, struct str body) {
    uint32_t good = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct str path[] = {STR("components"), STR("schemas"),  STR("." PLACEMENT_KIND),
                                   STR("properties"), members[i].part, STR("properties"),
                                   members[i].field};
        CLEANUP(arena_done) struct arena arena;
        struct json_reader r;
        arena_init(&arena, LIMIT_KUBE_BODY);
        json_reader_init(&r, body, &arena, "openapi");
        if (enter_members(&r, path, sizeof path / sizeof path[0]))
            good++;
        else if (json_failed(&r))
            return false;
        else
            check_report_add(c->out, members[i].severity, 0, c->path, upgrade, "%s",
                             members[i].missing);
    }
    if (good == MEMBERS)
        check_report_add(c->out, SEVERITY_INFO, 0, c->path, "",
                         "Placements have spec.spreadPolicy");
    return true;
}

static void check_placement(struct check *c) {
    CLEANUP(strbuf_done) struct strbuf body = {.max = OPENAPI_BYTES};
    struct err err = {0};
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "/openapi/v3/apis/%s/%s", watched_kinds[KIND_PLACEMENT].group,
                   watched_kinds[KIND_PLACEMENT].version); /* fits */
    int status = get(c, path, &body, &err);
    if (status != 200 || !check_members(c, strbuf_str(&body)))
        say_unseen(c, SEVERITY_WARNING, "whether Placements have spec.spreadPolicy", status, &err);
}

/* ---- the version ---- */

/* Returns the image of the first container. */
static struct str image_of(struct str body, struct arena *arena) {
    const struct str path[] = {STR("spec"), STR("template"), STR("spec"), STR("containers")};
    static const struct json_field fields[] = {JSON_TEXT_ALONE("image")};
    struct json_reader r;
    struct str image = {0};
    json_reader_init(&r, body, arena, "deployment");
    if (enter_members(&r, path, sizeof path / sizeof path[0]) && json_array(&r) && json_element(&r))
        json_fields(&r, &JSON_ROWS(fields), &image);
    return json_failed(&r) ? (struct str){0} : image;
}

static void check_version(struct check *c) {
    CLEANUP(strbuf_done) struct strbuf body = {.max = LIMIT_KUBE_BODY};
    CLEANUP(arena_done) struct arena arena;
    struct err err = {0};
    arena_init(&arena, LIMIT_KUBE_BODY);
    int status =
        get(c, "/apis/apps/v1/namespaces/" PLACEMENT_NAMESPACE "/deployments/" PLACEMENT_DEPLOYMENT,
            &body, &err);
    const struct str image = status == 200 ? image_of(strbuf_str(&body), &arena) : STR("");
    if (image.n > 0)
        check_report_add(c->out, SEVERITY_INFO, 0, c->path, "",
                         "Open Cluster Management's placement controller is %.*s", STR_ARG(image));
    else if (status == 404)
        check_report_add(c->out, SEVERITY_INFO, 0, c->path, "",
                         "the version of Open Cluster Management is not known: there is no "
                         "Deployment " PLACEMENT_NAMESPACE "/" PLACEMENT_DEPLOYMENT);
    else if (status == 403)
        check_report_add(
            c->out, SEVERITY_INFO, 0, c->path,
            "an administrator's kubeconfig shows it; Evenkeel does not need it",
            "the version of Open Cluster Management is not known: Deployment " PLACEMENT_NAMESPACE
            "/" PLACEMENT_DEPLOYMENT " is not shown to this user");
    else
        say_unseen(c, SEVERITY_INFO, "the version of Open Cluster Management", status, &err);
}

/* ---- all of it ---- */

void hub_check(const struct configuration *configuration, enum server_role role,
               struct kube_client *client, struct check_report *out) {
    struct check c = {.configuration = configuration,
                      .path = role == SERVER_HUB ? "hub.ocm" : "ocm",
                      .client = client,
                      .out = out};
    if (!purpose_is_wanted(configuration, PURPOSE_FLEET) ||
        purpose_server(configuration, PURPOSE_FLEET) != role || !check_kinds(&c, role) ||
        !purpose_is_wanted(configuration, PURPOSE_OCM))
        return;
    check_placement(&c);
    check_version(&c);
}
