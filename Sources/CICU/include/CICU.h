// SPDX-License-Identifier: MIT
// Number formatting by ICU. The library is loaded at the first call of any of these functions: a process that formats no
// numbers pays neither its memory nor its start. All functions may be called from any thread.
#ifndef CICU_H
#define CICU_H

#include <stdbool.h>
#include <stdint.h>

/// A number format of one locale. Immutable; several threads may use it at once.
typedef struct UNumberFormatter cicu_formatter;

/// The name of the library that is loaded.
const char *cicu_library(void);

/// Whether the library could be loaded. No other function may be called if not.
bool cicu_is_available(void);

/// Writes the ICU name of a BCP 47 language tag, without its keywords, to `name`, and the numbering system that it asks for
/// to `numbers`, empty if it asks for none that replaces the ten digits. Both have room for `capacity` bytes.
/// Returns false if the tag is malformed.
bool cicu_parse_tag(const char *tag, char *name, char *numbers, int32_t capacity);

/// Whether there are data for a locale's language.
bool cicu_has_language(const char *name);

/// The number of decimals of a currency by its code of three letters.
int32_t cicu_fraction_digits(const char *currency);

/// Makes a formatter by ICU's skeleton syntax; null if it fails. `cicu_close` releases it.
cicu_formatter *cicu_open(const char *skeleton, const char *locale);
void cicu_close(cicu_formatter *formatter);

/// Writes a number as UTF-8. Returns its length, or -1 if it fails or needs more than `capacity` bytes.
int32_t cicu_format(const cicu_formatter *formatter, double number, char *text, int32_t capacity);

#endif
