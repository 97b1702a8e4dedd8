/* What an API server sends on a watch. */
#pragma once

#define STREAM "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
/* Ends the list of what there is. */
#define MARKER(version)                                                                            \
    EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version                              \
                      "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}")
