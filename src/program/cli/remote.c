#include "cli/remote.h"

#include "base/file.h"
#include "base/limits.h"
#include "cli/commands.h"
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

const struct command remote_command = {
    .name = "remote",
    .usage = "[BYTES:PATH...] -- COMMAND [ARGUMENT...]",
    .about =
        "Runs a command in a container of Evenkeel, for kubectl evenkeel: explain, topology,\n"
        "simulate, check or version. Standard input has the files that the command names, one\n"
        "after the other; each BYTES:PATH gives the length of a file and its name in the command.\n"
        "The command may take half of the container's free memory. Exit codes: those of the\n"
        "command; 2 wrong usage.",
    .example = "kubectl -n evenkeel exec -i evenkeel-webhook-0 -c evenkeel -- \\\n"
               "    evenkeel remote \"$(wc -c <pod.yaml):pod.yaml\" -- \\\n"
               "    simulate --in-cluster --pod pod.yaml <pod.yaml",
};

/* The commands that may run here: none of them serves or writes files. */
static const struct remote {
    const char *name;
    int (*run)(int argc, char **argv);
} remotes[] = {
    {"explain", cmd_explain}, {"topology", cmd_topology}, {"simulate", cmd_simulate},
    {"check", cmd_check},     {"version", cmd_version},
};
enum { REMOTES = sizeof remotes / sizeof remotes[0] };

/* ---- memory ---- */

static bool read_number(const char *folder, const char *name, uint64_t *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 64};
    char path[256];
    int64_t number;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof path || file_read(path, 32, &text, NULL) != 0 ||
        !str_to_i64(str_trim(strbuf_str(&text)), &number) || number < 0)
        return false;
    *ret = (uint64_t)number;
    return true;
}

uint64_t remote_share(const char *folder) {
    static const char *const names[][2] = {
        {"memory.max", "memory.current"},
        {"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t limit, used;
        if (read_number(folder, names[i][0], &limit) && read_number(folder, names[i][1], &used))
            return limit > used ? (limit - used) / 2 : 0;
    }
    return UINT64_MAX;
}

/* Lowers this process's priority and memory limit, for the daemon's sake. */
static void step_back(void) {
    uint64_t share = remote_share("/sys/fs/cgroup");
    struct rlimit limit;
    (void)setpriority(PRIO_PROCESS, 0, 10); /* cannot fail: it is lowered */
    if (share == UINT64_MAX || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    limit.rlim_cur = share < limit.rlim_max ? share : limit.rlim_max;
    (void)setrlimit(RLIMIT_DATA, &limit); /* cannot fail: it is lowered */
}

/* ---- files ---- */

struct sent {
    struct given_file files[LIMIT_REMOTE_FILES];
    size_t count;
    uint64_t bytes; /* number of bytes of all files */
    char *memory;
};

/* Reads a file's size and path: "120:pod.yaml". */
static void take_file(struct options *o, const char *text, struct sent *sent) {
    struct str word = str_of(text);
    size_t colon = str_find(word, ':');
    int64_t bytes;
    if (colon == SIZE_MAX || colon + 1 == word.n ||
        !str_to_i64((struct str){text, colon}, &bytes) || bytes < 0)
        options_fail(o, "expected BYTES:PATH, not '%s'; the command comes after --", text);
    else if (sent->count == LIMIT_REMOTE_FILES)
        options_fail(o, "more than %d files", LIMIT_REMOTE_FILES);
    else if ((uint64_t)bytes > LIMIT_REMOTE_BYTES - sent->bytes)
        options_fail(o, "more than %u MiB of files; run evenkeel where they are",
                     LIMIT_REMOTE_BYTES >> 20);
    else {
        sent->files[sent->count++] =
            (struct given_file){.path = text + colon + 1, .bytes.n = (size_t)bytes};
        sent->bytes += (uint64_t)bytes;
    }
}

static int fail(const char *why) {
    (void)fprintf(stderr, "evenkeel remote: %s\n", why); /* nowhere to report to */
    return EXIT_FAILURE;
}

/* Returns 0, or the exit status. */
static int receive(struct sent *sent) {
    size_t n = 0;
    sent->memory = malloc(sent->bytes + 1);
    if (sent->memory == NULL)
        return fail("no memory for the files in this container; run evenkeel where they are");
    while (n < sent->bytes) {
        ssize_t more = read(STDIN_FILENO, sent->memory + n, sent->bytes - n);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0) {
            (void)fprintf(stderr,
                          "evenkeel remote: of %" PRIu64 " bytes of files only %zu came through "
                          "standard input\n",
                          sent->bytes, n); /* nowhere to report to */
            return EXIT_FAILURE;
        }
        n += (size_t)more;
    }
    n = 0;
    for (size_t i = 0; i < sent->count; i++) {
        sent->files[i].bytes.p = sent->memory + n;
        n += sent->files[i].bytes.n;
    }
    file_give(sent->files, sent->count);
    return 0;
}

/* ---- the command ---- */

static const struct remote *find_remote(struct options *o) {
    const char *name = o->at < o->argc ? o->argv[o->at] : NULL;
    for (size_t i = 0; name != NULL && i < REMOTES; i++)
        if (strcmp(remotes[i].name, name) == 0)
            return &remotes[i];
    if (name == NULL)
        options_fail(o, "which COMMAND? It comes after --");
    else
        options_fail(o, "'%s' does not run here; explain, topology, simulate, check and version do",
                     name);
    return NULL;
}

int cmd_remote(int argc, char **argv) {
    static struct sent sent; /* file_give() keeps it */
    struct options o;
    struct option_value v;
    int at = 1; /* index of "--": the words after it belong to the command */
    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    options_init(&o, &remote_command, at, argv);
    while (options_next(&o, &v))
        take_file(&o, v.text, &sent);
    if (o.stopped)
        return o.exit_status;
    o = (struct options){.command = &remote_command, .argc = argc, .argv = argv, .at = at + 1};
    const struct remote *remote = find_remote(&o);
    if (remote == NULL)
        return o.exit_status;
    step_back();
    int status = receive(&sent);
    if (status == 0)
        status = remote->run(argc - o.at, argv + o.at);
    file_give(NULL, 0);
    free(sent.memory);
    return status;
}
