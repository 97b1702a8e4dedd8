/*
 * The level of the log while the process runs, on the ops listener, for those who may read
 * explanations (explain/access.h), which is the ctx of the handlers. It lasts until the process
 * ends: the configuration stays as it is.
 */
#pragma once

#include "explain/access.h"

void log_level_get(void *ctx, const struct http_request *request, struct http_response *response);
void log_level_put(void *ctx, const struct http_request *request, struct http_response *response);
