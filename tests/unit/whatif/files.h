/* Files with states and pods, made of JSON with ' instead of ". */
#pragma once

#include "config/configuration.h"
#include "whatif/simulation.h"

#include "unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A new file for each text; the caller unlinks it. */
struct file_with {
    char path[64];
};

static inline struct file_with file_with(const char *text) {
    struct file_with file = {"/tmp/evenkeel-test-XXXXXX.json"};
    const int fd = mkostemps(file.path, 5, O_CLOEXEC);
    assert_true(fd >= 0);
    for (const char *p = text; *p != '\0'; p++)
        assert_int_equal(write(fd, *p == '\'' ? "\"" : p, 1), 1);
    assert_int_equal(close(fd), 0);
    return file;
}

#define NODE(name, zone, pods)                                                                     \
    "{'apiVersion':'v1','kind':'Node','metadata':{'name':'" name                                   \
    "','labels':{'topology.kubernetes.io/zone':'" zone "','name':'" name                           \
    "'}},'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':'" pods "'}}}"
/* `more` has further members of the metadata; `spec` has members of spec after the containers. */
#define POD(name, node, more, spec)                                                                \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'" name                                    \
    "','namespace':'shop','uid':'" name "'" more "},'spec':{'nodeName':'" node                     \
    "','containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'1'}}}]" spec "}}"
#define OWNED(kind, name)                                                                          \
    ",'ownerReferences':[{'apiVersion':'apps/v1','kind':'" kind "','name':'" name "','uid':'" name \
    "','controller':true}]"
#define LIST(items) "{'apiVersion':'v1','kind':'List','items':[" items "]}"
