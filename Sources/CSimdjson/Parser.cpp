// SPDX-License-Identifier: MIT
// The first stage is simdjson's: UTF-8 validation and the places of all structural characters. The second is
// here, since the tape it makes keeps every value's own text range, which simdjson's DOM does not.
#include "CSimdjson.h"

#include <charconv>
#include <cstring>
#include <endian.h>
#include <new>
#include <simdjson.h>
#include <vector>

namespace {

struct Frame {
    uint32_t entry;
    uint32_t count;
};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Four hexadecimal digits, or -1.
int32_t code_unit(const char *at, const char *end) {
    if (end - at < 4) return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_value(at[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

bool is_high_surrogate(int32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }

bool is_low_surrogate(int32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

/// The second half of a surrogate pair, escaped at `at`, or -1.
int32_t low_surrogate(const char *at, const char *end) {
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    const int32_t unit = code_unit(at + 2, end);
    return is_low_surrogate(unit) ? unit : -1;
}

/// Whether every escape in a string's inside is one that JSON has. RFC 8259 allows half a surrogate pair, which no
/// Unicode text has: `lone` becomes true then.
bool escapes_are_good(const char *at, const char *end, bool &lone) {
    while (at < end) {
        at = static_cast<const char *>(memchr(at, '\\', static_cast<size_t>(end - at)));
        if (at == nullptr) return true;
        if (end - at < 2) return false;
        switch (at[1]) {
        case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
            at += 2;
            break;
        case 'u': {
            const int32_t unit = code_unit(at + 2, end);
            if (unit < 0) return false;
            at += 6;
            if (is_low_surrogate(unit)) {
                lone = true;
            } else if (is_high_surrogate(unit)) {
                if (low_surrogate(at, end) < 0) {
                    lone = true;
                } else {
                    at += 6;
                }
            }
            break;
        }
        default:
            return false;
        }
    }
    return true;
}

const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Takes digits in, eight at a time where so many stand together.
const char *read_digits(const char *at, const char *end, uint64_t &mantissa) {
    while (end - at >= 8) {
        uint64_t text;
        memcpy(&text, at, sizeof text);
        text = le64toh(text);
        // A digit's upper half is 3, also with 6 added.
        const uint64_t upper = 0xF0F0F0F0F0F0F0F0;
        if ((text & upper) != 0x3030303030303030 || ((text + 0x0606060606060606) & upper) != 0x3030303030303030) break;
        // Neighbours become pairs, pairs fours, fours one number of eight digits; the first is in the lowest byte.
        text = (text & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;
        text = (text & 0x00FF00FF00FF00FF) * 6553601 >> 16;
        text = (text & 0x0000FFFF0000FFFF) * 42949672960001 >> 32;
        mantissa = mantissa * 100000000 + text;
        at += 8;
    }
    while (at < end && is_digit(*at)) mantissa = mantissa * 10 + static_cast<uint64_t>(*at++ - '0');
    return at;
}

/// Reads a number by RFC 8259's grammar. Returns its end, or nullptr where it is none.
const char *read_number(const char *at, const char *end, double &value, bool &integer) {
    const char *start = at;
    const bool negative = at < end && *at == '-';
    if (negative) at++;
    const char *digits = at;
    uint64_t mantissa = 0;
    at = read_digits(at, end, mantissa);
    long count = at - digits;
    if (count == 0 || (count > 1 && *digits == '0')) return nullptr;
    long exponent = 0;
    integer = true;
    if (at < end && *at == '.') {
        integer = false;
        const char *fraction = ++at;
        at = read_digits(at, end, mantissa);
        if (at == fraction) return nullptr;
        count += at - fraction;
        exponent = -(at - fraction);
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        integer = false;
        at++;
        const bool down = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) at++;
        const char *power = at;
        long written = 0;
        while (at < end && is_digit(*at)) {
            if (written < 100000) written = written * 10 + (*at - '0');
            at++;
        }
        if (at == power) return nullptr;
        exponent += down ? -written : written;
    }
    // Both operands are exact, so one rounding gives the nearest double (Clinger, 1990).
    if (count <= 19 && mantissa <= (uint64_t(1) << 53) && exponent >= -22 && exponent <= 22) {
        const double whole = static_cast<double>(mantissa);
        const double result = exponent < 0 ? whole / powers_of_ten[-exponent] : whole * powers_of_ten[exponent];
        value = negative ? -result : result;
        return at;
    }
    const auto read = std::from_chars(start, at, value);
    if (read.ec == std::errc::result_out_of_range) {
        // Too small is zero; too large is not finite, which the caller refuses. Zeros in front say nothing of size.
        for (const char *d = digits; d < at && (*d == '0' || *d == '.'); d++) count -= *d == '0';
        const bool large = exponent + count > 0;
        value = large ? std::numeric_limits<double>::infinity() : 0.0;
        if (negative) value = -value;
    }
    return at;
}

}  // namespace

struct csj_parser {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> scanner;
    std::vector<csj_entry> tape;
    std::vector<Frame> stack;
    const char *text = nullptr;
    size_t length = 0;
    const uint32_t *places = nullptr;
    size_t place_count = 0;
    size_t place = 0;
    size_t error_offset = 0;
    /// Where the first string with half a surrogate pair starts; SIZE_MAX without one.
    size_t lone_surrogate = SIZE_MAX;

    int scan() {
        if (!scanner) {
            const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
                length < 4096 ? 4096 : length, 64, scanner);
            if (error) return CSJ_MEMORY;
        } else if (scanner->capacity() < length) {
            if (scanner->set_capacity(length + length / 2)) return CSJ_MEMORY;
        }
        const auto error = scanner->stage1(reinterpret_cast<const uint8_t *>(text), length,
                                           simdjson::stage1_mode::regular);
        switch (error) {
        case simdjson::SUCCESS: break;
        case simdjson::EMPTY: return CSJ_EMPTY;
        case simdjson::UTF8_ERROR: return CSJ_UTF8;
        case simdjson::UNESCAPED_CHARS: case simdjson::UNCLOSED_STRING: return CSJ_STRING_ERROR;
        case simdjson::MEMALLOC: return CSJ_MEMORY;
        case simdjson::CAPACITY: return CSJ_TOO_LARGE;
        default: return CSJ_SYNTAX;
        }
        places = scanner->structural_indexes.get();
        place_count = scanner->n_structural_indexes;
        return CSJ_OK;
    }

    size_t offset_at(size_t index) const { return index < place_count ? places[index] : length; }

    int fail(int error, size_t offset) {
        error_offset = offset;
        return error;
    }

    void add(uint32_t kind, size_t start, size_t end, double number) {
        tape.push_back({kind, static_cast<uint32_t>(tape.size() + 1), static_cast<uint32_t>(start),
                        static_cast<uint32_t>(end), number});
    }

    /// Where the token that starts at a structural place ends, spaces behind it left out.
    size_t token_end(size_t start) const {
        size_t end = offset_at(place);
        while (end > start + 1 && is_space(text[end - 1])) end--;
        return end;
    }

    int read_string() {
        const size_t start = places[place++];
        const size_t end = token_end(start);
        if (end < start + 2 || text[end - 1] != '"') return fail(CSJ_STRING_ERROR, start);
        const char *inside = text + start + 1;
        const bool escaped = memchr(inside, '\\', end - start - 2) != nullptr;
        bool lone = false;
        if (escaped && !escapes_are_good(inside, text + end - 1, lone)) return fail(CSJ_STRING_ERROR, start);
        if (lone && lone_surrogate == SIZE_MAX) lone_surrogate = start;
        add(CSJ_STRING | (escaped ? 8 : 0) | (lone ? 16 : 0), start, end, 0);
        return CSJ_OK;
    }

    int read_word(const char *word, size_t size, uint32_t kind) {
        const size_t start = places[place++];
        const size_t end = token_end(start);
        if (end - start != size || memcmp(text + start, word, size) != 0) return fail(CSJ_SYNTAX, start);
        add(kind, start, end, 0);
        return CSJ_OK;
    }

    int read_scalar() {
        const size_t start = places[place];
        switch (text[start]) {
        case '"': return read_string();
        case 't': return read_word("true", 4, CSJ_TRUE);
        case 'f': return read_word("false", 5, CSJ_FALSE);
        case 'n': return read_word("null", 4, CSJ_NULL);
        default: break;
        }
        place++;
        const size_t end = token_end(start);
        double value = 0;
        bool integer = false;
        const char *read = read_number(text + start, text + end, value, integer);
        if (read != text + end) return fail(CSJ_SYNTAX, start);
        if (value - value != 0) return fail(CSJ_NOT_FINITE, start);
        add(CSJ_NUMBER | (integer ? 8 : 0), start, end, value);
        return CSJ_OK;
    }

    char peek() const { return place < place_count ? text[places[place]] : '\0'; }

    /// Ends the container on top of the stack.
    void close() {
        const Frame frame = stack.back();
        stack.pop_back();
        csj_entry &entry = tape[frame.entry];
        entry.next = static_cast<uint32_t>(tape.size());
        entry.end = places[place++] + 1;
        entry.number = frame.count;
    }

    int run(uint32_t maximum_depth) {
        tape.clear();
        stack.clear();
        lone_surrogate = SIZE_MAX;
        place = 0;
        const int scanned = scan();
        if (scanned) return fail(scanned, 0);
        if (place_count == 0) return fail(CSJ_EMPTY, 0);
        // Most values are followed by one comma or colon. A tape that grows from nothing touches twice the memory.
        tape.reserve(place_count / 2 + 16);
        // Each turn reads one value, then closes what it ends, and stands before the next value.
        while (true) {
            const char c = peek();
            int error = CSJ_OK;
            if (c == '{' || c == '[') {
                if (stack.size() >= maximum_depth) return fail(CSJ_DEPTH, places[place]);
                stack.push_back({static_cast<uint32_t>(tape.size()), 0});
                add(c == '{' ? CSJ_OBJECT : CSJ_ARRAY, places[place], 0, 0);
                place++;
                if (peek() != (c == '{' ? '}' : ']')) {
                    if (c == '{' && (error = read_key())) return error;
                    continue;
                }
                close();
            } else {
                if (place >= place_count) return fail(CSJ_SYNTAX, length);
                if ((error = read_scalar())) return error;
            }
            bool next = false;
            while (!stack.empty() && !next) {
                stack.back().count++;
                const bool object = tape[stack.back().entry].kind == CSJ_OBJECT;
                const char after = peek();
                if (after == ',') {
                    place++;
                    if (object && (error = read_key())) return error;
                    next = true;
                } else if (after == (object ? '}' : ']')) {
                    close();
                } else {
                    return fail(CSJ_SYNTAX, offset_at(place));
                }
            }
            if (!next) break;
        }
        return place < place_count ? fail(CSJ_SYNTAX, places[place]) : CSJ_OK;
    }

    int read_key() {
        if (peek() != '"') return fail(CSJ_SYNTAX, offset_at(place));
        const int error = read_string();
        if (error) return error;
        if (peek() != ':') return fail(CSJ_SYNTAX, offset_at(place));
        place++;
        return CSJ_OK;
    }
};

extern "C" {

csj_parser *csj_create(void) { return new (std::nothrow) csj_parser(); }

void csj_destroy(csj_parser *parser) { delete parser; }

int csj_parse(csj_parser *parser, const char *text, size_t length, uint32_t maximum_depth,
              const csj_entry **entries, size_t *count, size_t *error_offset, size_t *lone_surrogate) {
    *lone_surrogate = SIZE_MAX;
    *entries = nullptr;
    *count = 0;
    *error_offset = 0;
    if (length >= UINT32_MAX) return CSJ_TOO_LARGE;
    if (length == 0) return CSJ_EMPTY;
    try {
        parser->text = text;
        parser->length = length;
        const int error = parser->run(maximum_depth);
        if (error) {
            *error_offset = parser->error_offset;
            return error;
        }
    } catch (...) {
        return CSJ_MEMORY;
    }
    *entries = parser->tape.data();
    *count = parser->tape.size();
    *lone_surrogate = parser->lone_surrogate;
    return CSJ_OK;
}

int csj_read_number(const char *text, size_t length, double *value) {
    bool integer = false;
    const char *end = text + length;
    return read_number(text, end, *value, integer) == end && *value - *value == 0;
}

int csj_is_utf8(const char *text, size_t length) { return simdjson::validate_utf8(text, length); }

size_t csj_unescape(const char *at, size_t length, char *target) {
    const char *end = at + length;
    char *out = target;
    while (at < end) {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        const char kind = at + 1 < end ? at[1] : '\\';
        at += 2;
        switch (kind) {
        case 'b': *out++ = '\b'; break;
        case 'f': *out++ = '\f'; break;
        case 'n': *out++ = '\n'; break;
        case 'r': *out++ = '\r'; break;
        case 't': *out++ = '\t'; break;
        case 'u': {
            int32_t unit = code_unit(at, end);
            if (unit < 0) return static_cast<size_t>(out - target);
            at += 4;
            uint32_t scalar = static_cast<uint32_t>(unit);
            if (is_high_surrogate(unit)) {
                const int32_t low = low_surrogate(at, end);
                if (low < 0) {
                    scalar = 0xFFFD;
                } else {
                    scalar = 0x10000 + ((scalar - 0xD800) << 10) + (static_cast<uint32_t>(low) - 0xDC00);
                    at += 6;
                }
            } else if (is_low_surrogate(unit)) {
                scalar = 0xFFFD;
            }
            if (scalar < 0x80) {
                *out++ = static_cast<char>(scalar);
            } else if (scalar < 0x800) {
                *out++ = static_cast<char>(0xC0 | scalar >> 6);
                *out++ = static_cast<char>(0x80 | (scalar & 0x3F));
            } else if (scalar < 0x10000) {
                *out++ = static_cast<char>(0xE0 | scalar >> 12);
                *out++ = static_cast<char>(0x80 | (scalar >> 6 & 0x3F));
                *out++ = static_cast<char>(0x80 | (scalar & 0x3F));
            } else {
                *out++ = static_cast<char>(0xF0 | scalar >> 18);
                *out++ = static_cast<char>(0x80 | (scalar >> 12 & 0x3F));
                *out++ = static_cast<char>(0x80 | (scalar >> 6 & 0x3F));
                *out++ = static_cast<char>(0x80 | (scalar & 0x3F));
            }
            break;
        }
        default: *out++ = kind; break;
        }
    }
    return static_cast<size_t>(out - target);
}

}  // extern "C"
