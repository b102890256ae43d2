// SPDX-License-Identifier: MIT
// Finds where the values of a large text end, without reading what is in them.
#include "CSimdjson.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

/// One character at a time: near escapes, at the end, and where there is no SSE2. Calls `closed` with the offset behind each
/// closing bracket, until it returns true. Returns that offset, or `end` plus one.
template <typename Closed>
size_t scan_slowly(csj_scan_state *state, const char *text, size_t at, size_t end, Closed closed) {
    for (; at < end; at++) {
        const char c = text[at];
        if (state->in_string) {
            if (state->escaped) {
                state->escaped = 0;
            } else if (c == '\\') {
                state->escaped = 1;
            } else if (c == '"') {
                state->in_string = 0;
            }
        } else if (c == '"') {
            state->in_string = 1;
        } else if (c == '{' || c == '[') {
            state->depth++;
        } else if (c == '}' || c == ']') {
            state->depth--;
            if (closed(at + 1)) return at + 1;
        }
    }
    return end + 1;
}

#if defined(__SSE2__)
uint64_t equal_mask(const char *block, char c) {
    const __m128i wanted = _mm_set1_epi8(c);
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(block + 16 * i));
        const auto part = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
        mask |= static_cast<uint64_t>(part) << (16 * i);
    }
    return mask;
}

/// Bytes equal to either of two that differ in bit 5 only, as braces and brackets do.
uint64_t either_mask(const char *block, char c) {
    const __m128i wanted = _mm_set1_epi8(c);
    const __m128i bit = _mm_set1_epi8(0x20);
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(block + 16 * i));
        const auto part =
            static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(bytes, bit), wanted)));
        mask |= static_cast<uint64_t>(part) << (16 * i);
    }
    return mask;
}

/// Each bit becomes the parity of itself and those below it.
uint64_t parity(uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
}

/// Where brackets and quotation marks are in 64 characters without escapes: a bit for each character.
struct Block {
    uint64_t quotes;
    uint64_t opening;
    uint64_t closing;
};

Block block_of(const char *text) {
    return {equal_mask(text, '"'), either_mask(text, '{'), either_mask(text, '}')};
}

/// Takes in a block that begins at `at`. Returns the offset that `closed` accepted, or 0.
template <typename Closed>
size_t scan_block(csj_scan_state *state, const Block &block, size_t at, Closed closed) {
    uint64_t inside = parity(block.quotes);
    if (state->in_string) inside = ~inside;
    const uint64_t opening = block.opening & ~inside;
    uint64_t brackets = opening | (block.closing & ~inside);
    while (brackets) {
        const uint64_t bit = brackets & (~brackets + 1);
        brackets ^= bit;
        if (opening & bit) {
            state->depth++;
            continue;
        }
        state->depth--;
        const size_t behind = at + static_cast<size_t>(__builtin_ctzll(bit)) + 1;
        if (closed(behind)) {
            state->in_string = 0;
            return behind;
        }
    }
    state->in_string = static_cast<uint32_t>(inside >> 63);
    return 0;
}
#endif

/// The same for a whole text, 64 characters at a time.
template <typename Closed>
size_t scan(csj_scan_state *state, const char *text, size_t length, Closed closed) {
    size_t at = 0;
#if defined(__SSE2__)
    for (; length - at >= 64; at += 64) {
        const char *block = text + at;
        if (state->escaped || equal_mask(block, '\\')) {
            const size_t found = scan_slowly(state, text, at, at + 64, closed);
            if (found <= at + 64) return found;
        } else if (const size_t found = scan_block(state, block_of(block), at, closed)) {
            return found;
        }
    }
#endif
    return scan_slowly(state, text, at, length, closed);
}

}  // namespace

extern "C" size_t csj_scan_to_depth(csj_scan_state *state, const char *text, size_t length, int64_t depth) {
    return scan(state, text, length, [=](size_t) { return state->depth <= depth; });
}

extern "C" size_t csj_scan_to_last(csj_scan_state *state, const char *text, size_t length, size_t *last) {
    *last = 0;
    const size_t found = scan(state, text, length, [=](size_t behind) {
        if (state->depth == 0) *last = behind;
        return state->depth < 0;
    });
    return found > length ? length : found;
}
