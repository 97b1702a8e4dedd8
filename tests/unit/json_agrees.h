/*
 * Comparing JSON with what is expected of a part of it: members that are not named may be anything;
 * lists must be equal item by item. Objects with one of these members are operators:
 *
 *     {"$not":x}        anything else
 *     {"$is":x}         x, with no more members
 *     {"$absent":1}     no such member
 *     {"$set":[..]}     these items in any order
 *     {"$has":[..]}     for each of these texts an item that contains it
 *     {"$any":[..]}     one of them
 *     {"$text":"regex"} a text that it matches
 */
#pragma once

#include "base/str.h"

/* Returns false and prints the differences, each with its place. */
bool json_agrees(struct str json, struct str expected);
