#include "kube/auth/exec_start.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static bool is_variable(const char *text, struct str name) {
    return str_has_prefix(str_of(text), name) && text[name.n] == '=';
}

/* Does a later entry, from exec->env[from] on, or KUBERNETES_EXEC_INFO, set this variable again? */
static bool overridden(const struct kube_exec *exec, const char *text, size_t from) {
    for (size_t i = from; i < exec->env_count; i++)
        if (is_variable(text, str_of(exec->env[i].name)))
            return true;
    return is_variable(text, STR("KUBERNETES_EXEC_INFO"));
}

static char *join(struct arena *arena, const struct kube_exec_env *variable) {
    size_t n = strlen(variable->name) + 1 + strlen(variable->value) + 1;
    char *text = arena_alloc(arena, n);
    if (text != NULL)
        (void)snprintf(text, n, "%s=%s", variable->name, variable->value); /* fits */
    return text;
}

static void build_environment(const struct kube_exec *exec, struct arena *arena,
                              struct exec_start *s) {
    size_t ours = 0, n = 0;
    while (environ[ours] != NULL)
        ours++;
    s->envp = arena_array(arena, ours + exec->env_count + 2, sizeof *s->envp);
    for (size_t i = 0; i < ours && s->envp != NULL; i++)
        if (!overridden(exec, environ[i], 0))
            s->envp[n++] = arena_cstr(arena, str_of(environ[i]));
    for (size_t i = 0; i < exec->env_count && s->envp != NULL; i++) {
        char *text = join(arena, &exec->env[i]);
        if (text != NULL && !overridden(exec, text, i + 1))
            s->envp[n++] = text;
    }
    if (s->envp != NULL)
        s->info = s->envp + n;
}

static void build_arguments(const struct kube_exec *exec, struct arena *arena,
                            struct exec_start *s) {
    s->argv = arena_array(arena, exec->arg_count + 2, sizeof *s->argv);
    if (s->argv == NULL)
        return;
    s->argv[0] = arena_cstr(arena, str_of(exec->command));
    for (size_t i = 0; i < exec->arg_count; i++)
        s->argv[i + 1] = arena_cstr(arena, str_of(exec->args[i]));
}

int exec_start_build(const struct kube_exec *exec, struct arena *arena, struct exec_start *ret,
                     struct err *err) {
    struct exec_start start = {.argv = NULL};
    build_arguments(exec, arena, &start);
    build_environment(exec, arena, &start);
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for the arguments of a credential plugin");
    *ret = start;
    return 0;
}
