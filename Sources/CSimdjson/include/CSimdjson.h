// SPDX-License-Identifier: MIT
// JSON text to a flat tape, and numbers to text. No C++ exception crosses this interface.
#ifndef CSIMDJSON_H
#define CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum csj_kind {
    CSJ_NULL = 0,
    CSJ_FALSE = 1,
    CSJ_TRUE = 2,
    CSJ_NUMBER = 3,
    CSJ_STRING = 4,
    CSJ_ARRAY = 5,
    CSJ_OBJECT = 6
};

enum csj_error {
    CSJ_OK = 0,
    CSJ_SYNTAX = 1,
    CSJ_DEPTH = 2,
    CSJ_NOT_FINITE = 3,
    CSJ_UTF8 = 4,
    CSJ_STRING_ERROR = 5,
    CSJ_MEMORY = 6,
    CSJ_EMPTY = 7,
    CSJ_TOO_LARGE = 8
};

/// A value of the document. An array's or object's members follow it; an object's are key, value, key, value.
typedef struct csj_entry {
    /// A csj_kind. For strings plus 8 if the text has escapes, plus 16 if one of them is half a surrogate pair; for numbers
    /// plus 8 if the number is written as an integer.
    uint32_t kind;
    /// The index of the next entry after this one and everything inside it.
    uint32_t next;
    /// The value's own text, from start up to end, quotes and brackets included.
    uint32_t start;
    uint32_t end;
    /// A number's value; the count of an array's elements or an object's members.
    double number;
} csj_entry;

typedef struct csj_parser csj_parser;

/// Returns NULL if there is no memory.
csj_parser *csj_create(void);
void csj_destroy(csj_parser *parser);

/// Parses a whole text, less than 4 GiB. On success entries stay valid until the parser's next use.
/// On failure error_offset is the offset of the fault. lone_surrogate is the offset of the first string with half a surrogate pair,
/// or SIZE_MAX if there is none. Such a half decodes to U+FFFD.
int csj_parse(csj_parser *parser, const char *text, size_t length, uint32_t maximum_depth,
              const csj_entry **entries, size_t *count, size_t *error_offset, size_t *lone_surrogate);

/// Whether a text is UTF-8.
int csj_is_utf8(const char *text, size_t length);

/// Decodes a string's inside, which csj_parse has accepted, into target, which has room for length bytes.
/// Returns the decoded length.
size_t csj_unescape(const char *inside, size_t length, char *target);

/// Reads a text that is one number by RFC 8259's grammar. Returns 0 if it is not.
int csj_read_number(const char *text, size_t length, double *value);

/// The state of a scan of a stream of JSON text. All zero at the start.
typedef struct csj_scan_state {
    int64_t depth;
    uint32_t in_string;
    uint32_t escaped;
} csj_scan_state;

/// Scans text, which may be incomplete, until a bracket or brace outside of strings brings the depth down to `depth`. Returns the
/// offset after that bracket, or `length` plus one if there is none. Does not check that the text is JSON.
size_t csj_scan_to_depth(csj_scan_state *state, const char *text, size_t length, int64_t depth);

/// Scans text, which may be incomplete, until a bracket or brace outside of strings brings the depth below 0, and returns the
/// offset at which it stopped. `last` becomes the offset after the last bracket that brought the depth down to 0, or 0.
size_t csj_scan_to_last(csj_scan_state *state, const char *text, size_t length, size_t *last);

/// Writes a finite number as JavaScript prints it, at most 25 bytes, and returns how many. Up to 40 bytes of the target may be
/// overwritten.
size_t csj_print_number(double number, char *target);

#ifdef __cplusplus
}
#endif
#endif
