#include "http/client_name.h"

#include <stdio.h>

static const char *const prefixes[CLIENT_NAME_TYPES] = {
    [CLIENT_NAME_CN] = "cn:",
    [CLIENT_NAME_DNS] = "dns:",
    [CLIENT_NAME_URI] = "uri:",
    [CLIENT_NAME_EMAIL] = "email:",
};

/* Returns CLIENT_NAME_TYPES if the text begins with no known prefix. */
static enum client_name_type type_of(struct str written) {
    enum client_name_type type = 0;
    while (type < CLIENT_NAME_TYPES && !str_has_prefix(written, str_of(prefixes[type])))
        type++;
    return type;
}

struct client_name client_name_read(struct str written) {
    enum client_name_type type = type_of(written);
    if (type == CLIENT_NAME_TYPES)
        return (struct client_name){CLIENT_NAME_CN, written};
    size_t n = strlen(prefixes[type]);
    return (struct client_name){type, {written.p + n, written.n - n}};
}

bool client_name_eq(const struct client_name *a, const struct client_name *b) {
    return a->type == b->type && str_eq(a->text, b->text);
}

void client_name_write(const struct client_name *name, char *out, size_t size) {
    bool plain = name->type == CLIENT_NAME_CN && type_of(name->text) == CLIENT_NAME_TYPES;
    (void)snprintf(out, size, "%s%.*s", plain ? "" : prefixes[name->type], STR_ARG(name->text));
}

/* Returns the text in front of the first colon; empty without a colon. */
static struct str word_of(struct str written) {
    size_t colon = str_find(written, ':');
    return (struct str){written.p, colon == SIZE_MAX ? 0 : colon};
}

bool client_name_valid(struct str written) {
    static const char *const mistaken[] = {"cn",   "dns",    "uri", "email", "ip",
                                           "mail", "e-mail", "san", "o",     "ou"};
    if (type_of(written) != CLIENT_NAME_TYPES)
        return client_name_read(written).text.n > 0;
    struct str word = word_of(written);
    if (str_has_prefix((struct str){written.p + word.n, written.n - word.n}, STR("://")))
        return false;
    for (size_t i = 0; i < sizeof mistaken / sizeof mistaken[0]; i++)
        if (str_eq_nocase(word, str_of(mistaken[i])))
            return false;
    return true;
}
