// SPDX-License-Identifier: MIT
#include "CICU.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unicode/ucurr.h>
#include <unicode/uloc.h>
#include <unicode/unum.h>
#include <unicode/unumberformatter.h>
#include <unicode/unumsys.h>
#include <unicode/ustring.h>
#include <unicode/uversion.h>

#define TEXT_OF(name) #name
/// The text of a name after ICU's headers have added the version to it.
#define TEXT(name) TEXT_OF(name)
#define LIBRARY(name) "lib" name ".so." TEXT(U_ICU_VERSION_MAJOR_NUM)

/// ICU's functions. Each has the type that the header declares.
static struct {
    bool is_available;
    __typeof__(&uloc_forLanguageTag) forLanguageTag;
    __typeof__(&uloc_getBaseName) getBaseName;
    __typeof__(&uloc_getLanguage) getLanguage;
    __typeof__(&uloc_getKeywordValue) getKeywordValue;
    __typeof__(&uloc_getAvailable) getAvailable;
    __typeof__(&uloc_countAvailable) countAvailable;
    __typeof__(&u_strFromUTF8) fromUTF8;
    __typeof__(&u_strToUTF8) toUTF8;
    __typeof__(&ucurr_getDefaultFractionDigits) fractionDigits;
    __typeof__(&unumsys_openByName) openNumbers;
    __typeof__(&unumsys_isAlgorithmic) isAlgorithmic;
    __typeof__(&unumsys_close) closeNumbers;
    __typeof__(&unumf_openForSkeletonAndLocale) open;
    __typeof__(&unumf_close) close;
    __typeof__(&unumf_openResult) openResult;
    __typeof__(&unumf_formatDouble) formatDouble;
    __typeof__(&unumf_resultToString) toString;
    __typeof__(&unumf_closeResult) closeResult;
} icu;

#define FIND(library, field, name) \
    if (!(icu.field = (__typeof__(icu.field))dlsym(library, TEXT(name)))) return

static void load(void) {
    void *common = dlopen(LIBRARY("icuuc"), RTLD_NOW | RTLD_LOCAL);
    void *formats = dlopen(LIBRARY("icui18n"), RTLD_NOW | RTLD_LOCAL);
    if (!common || !formats) return;
    FIND(common, forLanguageTag, uloc_forLanguageTag);
    FIND(common, getBaseName, uloc_getBaseName);
    FIND(common, getLanguage, uloc_getLanguage);
    FIND(common, getKeywordValue, uloc_getKeywordValue);
    FIND(common, getAvailable, uloc_getAvailable);
    FIND(common, countAvailable, uloc_countAvailable);
    FIND(common, fromUTF8, u_strFromUTF8);
    FIND(common, toUTF8, u_strToUTF8);
    FIND(common, fractionDigits, ucurr_getDefaultFractionDigits);
    FIND(formats, openNumbers, unumsys_openByName);
    FIND(formats, isAlgorithmic, unumsys_isAlgorithmic);
    FIND(formats, closeNumbers, unumsys_close);
    FIND(formats, open, unumf_openForSkeletonAndLocale);
    FIND(formats, close, unumf_close);
    FIND(formats, openResult, unumf_openResult);
    FIND(formats, formatDouble, unumf_formatDouble);
    FIND(formats, toString, unumf_resultToString);
    FIND(formats, closeResult, unumf_closeResult);
    icu.is_available = true;
}

const char *cicu_library(void) { return LIBRARY("icui18n"); }

bool cicu_is_available(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return icu.is_available;
}

/// Whether numbers are written by this system's ten digits in place of the locale's.
static bool has_ten_digits(const char *numbers) {
    UErrorCode error = U_ZERO_ERROR;
    UNumberingSystem *system = icu.openNumbers(numbers, &error);
    if (U_FAILURE(error)) return false;
    bool result = !icu.isAlgorithmic(system);
    icu.closeNumbers(system);
    return result;
}

bool cicu_parse_tag(const char *tag, char *name, char *numbers, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    char locale[ULOC_FULLNAME_CAPACITY];
    int32_t parsed = 0;
    icu.forLanguageTag(tag, locale, sizeof locale, &parsed, &error);
    if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING || (size_t)parsed != strlen(tag))
        return false;
    icu.getBaseName(locale, name, capacity, &error);
    if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING) return false;
    int32_t length = icu.getKeywordValue(locale, "numbers", numbers, capacity, &error);
    if (U_FAILURE(error) || length <= 0 || length >= capacity || !has_ten_digits(numbers)) numbers[0] = 0;
    return true;
}

bool cicu_has_language(const char *name) {
    UErrorCode error = U_ZERO_ERROR;
    char wanted[ULOC_LANG_CAPACITY], language[ULOC_LANG_CAPACITY];
    icu.getLanguage(name, wanted, sizeof wanted, &error);
    if (U_FAILURE(error) || !wanted[0]) return false;
    for (int32_t index = icu.countAvailable() - 1; index >= 0; index--) {
        icu.getLanguage(icu.getAvailable(index), language, sizeof language, &error);
        if (U_SUCCESS(error) && strcmp(language, wanted) == 0) return true;
    }
    return false;
}

int32_t cicu_fraction_digits(const char *currency) {
    UErrorCode error = U_ZERO_ERROR;
    UChar code[4];
    icu.fromUTF8(code, 4, NULL, currency, -1, &error);
    int32_t digits = icu.fractionDigits(code, &error);
    return U_FAILURE(error) ? 2 : digits;
}

cicu_formatter *cicu_open(const char *skeleton, const char *locale) {
    UErrorCode error = U_ZERO_ERROR;
    UChar text[512];
    int32_t length = 0;
    icu.fromUTF8(text, 512, &length, skeleton, -1, &error);
    if (U_FAILURE(error)) return NULL;
    UNumberFormatter *formatter = icu.open(text, length, locale, &error);
    if (U_SUCCESS(error)) return formatter;
    icu.close(formatter);
    return NULL;
}

void cicu_close(cicu_formatter *formatter) { icu.close(formatter); }

int32_t cicu_format(const cicu_formatter *formatter, double number, char *text, int32_t capacity) {
    UErrorCode error = U_ZERO_ERROR;
    UChar units[1024];
    int32_t length = -1;
    UFormattedNumber *result = icu.openResult(&error);
    icu.formatDouble(formatter, number, result, &error);
    int32_t count = icu.toString(result, units, 1024, &error);
    icu.toUTF8(text, capacity, &length, units, count, &error);
    icu.closeResult(result);
    return U_FAILURE(error) ? -1 : length;
}
